//! A server on loopback that does as a test says, and remembers what it was sent.
//!
//! It knows no wire: a test writes the bytes.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    time::sleep,
};

#[derive(Debug, Clone)]
pub enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Says nothing more, and does not hang up.
    Hang,
    Close,
}

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub connection: usize,
    /// Request line and headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

type Answers = Arc<dyn Fn(&Seen) -> Vec<Step> + Send + Sync>;

impl Server {
    pub async fn start(answers: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (answers, theirs): (Answers, _) = (Arc::new(answers), seen.clone());
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, connection, answers.clone(), theirs.clone()));
            }
        });
        Self { address, seen }
    }

    pub async fn start_tls(
        config: Arc<rustls::ServerConfig>,
        answers: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (answers, theirs): (Answers, _) = (Arc::new(answers), seen.clone());
        let acceptor = tokio_rustls::TlsAcceptor::from(config);
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(serve(stream, connection, answers.clone(), theirs.clone()));
                }
            }
        });
        Self { address, seen }
    }

    /// The same answer to everything.
    pub async fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_| steps.clone()).await
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    connection: usize,
    answers: Answers,
    seen: Arc<Mutex<Vec<Seen>>>,
) {
    while let Some(request) = read_request(&mut stream, connection).await {
        seen.lock().unwrap().push(request.clone());
        for step in answers(&request) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
                Step::Pause(duration) => sleep(duration).await,
                Step::Hang => std::future::pending().await,
                Step::Close => {
                    let _ = stream.shutdown().await;
                    return;
                }
            }
        }
    }
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S, connection: usize) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    let body = bytes.split_off(end);
    let head = String::from_utf8(bytes).unwrap();
    let mut seen = Seen {
        connection,
        head,
        body,
    };
    let length = seen
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    while seen.body.len() < length {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 {
            return None;
        }
        seen.body.extend_from_slice(&buffer[..count]);
    }
    Some(seen)
}

pub fn send(text: impl AsRef<[u8]>) -> Step {
    Step::Send(text.as_ref().to_vec())
}

/// The head of an answer that comes in chunks.
pub fn events() -> Step {
    send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
}

pub fn chunk(text: impl AsRef<[u8]>) -> Step {
    let text = text.as_ref();
    let mut bytes = format!("{:x}\r\n", text.len()).into_bytes();
    bytes.extend_from_slice(text);
    bytes.extend_from_slice(b"\r\n");
    Step::Send(bytes)
}

/// The end of an answer that comes in chunks.
pub fn end() -> Step {
    send("0\r\n\r\n")
}

/// A whole answer; `headers` are lines, each with its `\r\n`.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    vec![send(text)]
}

/// One chunk of a chat completion that says `text`.
pub fn says(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
}

pub const STOPS: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
pub const DONE: &str = "data: [DONE]\n\n";
