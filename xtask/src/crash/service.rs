//! The strict model service, in a process of its own that outlives the program under test.
//!
//! It answers from a scenario, and says a line for each request.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use serde_json::Value;

pub struct Service {
    child: Child,
    url: String,
    said: Arc<Mutex<Vec<String>>>,
    reader: JoinHandle<()>,
}

impl Service {
    pub fn start(serve: &Path, scenario: &Path) -> io::Result<Self> {
        let mut child = Command::new(serve)
            .args(["--until-eof", "--strict-template"])
            .arg(scenario)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("no stdout"))?;
        let mut lines = BufReader::new(stdout).lines();
        let url = lines
            .next()
            .ok_or_else(|| io::Error::other("the service says no URL"))??;
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = said.clone();
        let reader = thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(line);
            }
        });
        Ok(Self {
            child,
            url,
            said,
            reader,
        })
    }

    /// What `--model` takes to reach it over that wire.
    pub fn model(&self, wire: &str) -> String {
        let path = if wire.is_empty() { "/v1" } else { "" };
        format!("{wire}{}{path}#scripted", self.url)
    }

    /// How many requests there were, and why some were refused.
    pub fn stop(mut self) -> (usize, Vec<String>) {
        // It ends with its input, once it has said all.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let _ = self.reader.join();
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = said
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines: Vec<Value> = lines.collect();
        let refused = lines.iter().filter_map(|line| line["refused"].as_str());
        (lines.len(), refused.map(str::to_owned).collect())
    }
}
