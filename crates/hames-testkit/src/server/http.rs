//! As much of HTTP/1.1 as a model's client speaks.
//!
//! It reads whole requests and writes what it is given; it knows no path and no model.

use std::io;

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const LONGEST: usize = 64 << 20;

pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// One client's connection, and what was read ahead of it.
pub struct Connection {
    socket: TcpStream,
    ahead: Vec<u8>,
}

impl Connection {
    pub fn new(socket: TcpStream) -> Self {
        // Each write is one packet, so that pieces arrive as they are written.
        let _ = socket.set_nodelay(true);
        let ahead = Vec::new();
        Self { socket, ahead }
    }

    /// `None` once the client has closed.
    pub async fn request(&mut self) -> io::Result<Option<Request>> {
        let (mut request, length) = loop {
            if let Some(head) = self.head()? {
                break head;
            }
            if !self.read_more().await? {
                return Ok(None);
            }
        };
        if request.header("expect").is_some() {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        request.body = match length {
            Some(length) => self.take(length).await?,
            None => self.chunks().await?,
        };
        Ok(Some(request))
    }

    /// The head, once it is there whole, and the length of the body if it is known.
    fn head(&mut self) -> io::Result<Option<(Request, Option<usize>)>> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Request::new(&mut headers);
        let parsed = head.parse(&self.ahead).map_err(io::Error::other)?;
        let httparse::Status::Complete(end) = parsed else {
            return Ok(None);
        };
        let header = |header: &httparse::Header<'_>| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        };
        let path = head.path.unwrap_or_default();
        let request = Request {
            method: head.method.unwrap_or_default().to_owned(),
            path: path.split('?').next().unwrap_or_default().to_owned(),
            headers: head.headers.iter().map(header).collect(),
            body: Bytes::new(),
        };
        self.ahead.drain(..end);
        let chunked = request.header("transfer-encoding").is_some();
        let length = request.header("content-length").map(str::parse);
        let length = length.unwrap_or(Ok(0)).map_err(io::Error::other)?;
        Ok(Some((request, (!chunked).then_some(length))))
    }

    async fn chunks(&mut self) -> io::Result<Bytes> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            body.extend_from_slice(&self.take(size).await?);
            self.line().await?;
            if size == 0 {
                return Ok(body.into());
            }
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.ahead.drain(..=end).collect();
                return String::from_utf8(line).map_err(io::Error::other);
            }
            if !self.read_more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn take(&mut self, length: usize) -> io::Result<Bytes> {
        if length > LONGEST {
            return Err(io::Error::other("a body that long is no request"));
        }
        while self.ahead.len() < length {
            if !self.read_more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.ahead.drain(..length).collect::<Vec<u8>>().into())
    }

    async fn read_more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        let read = self.socket.read(&mut buffer).await?;
        self.ahead.extend(buffer.iter().take(read));
        Ok(read > 0)
    }

    /// One write, whole.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes).await
    }

    /// A response with its whole body.
    pub async fn respond(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
        let length = body.len().to_string();
        let length = [("content-length", length.as_str())];
        let mut bytes = head(status, headers.iter().chain(&length));
        bytes.extend_from_slice(body);
        self.write(&bytes).await
    }

    /// The head of a response whose body comes in chunks.
    pub async fn begin(&mut self, content_type: &str) -> io::Result<()> {
        let headers = [
            ("content-type", content_type),
            ("transfer-encoding", "chunked"),
        ];
        self.write(&head(200, headers.iter())).await
    }

    pub async fn chunk(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut bytes = format!("{:x}\r\n", piece.len()).into_bytes();
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
        self.write(&bytes).await
    }

    pub async fn end(&mut self) -> io::Result<()> {
        self.write(b"0\r\n\r\n").await
    }

    /// Until the client gives up.
    pub async fn gone(&mut self) {
        while let Ok(true) = self.read_more().await {}
    }
}

fn head<'a>(status: u16, headers: impl Iterator<Item = &'a (&'a str, &'a str)>) -> Vec<u8> {
    let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers: String = headers.collect();
    format!("HTTP/1.1 {status} {}\r\n{headers}\r\n", reason(status)).into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
