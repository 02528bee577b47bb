//! A listener on loopback, whose connections a thread of this process serves.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// A listener that its first user starts, and all others share.
#[derive(Debug)]
pub struct Listener {
    thread: &'static str,
    address: OnceLock<Result<SocketAddr, Arc<io::Error>>>,
}

impl Listener {
    /// A listener whose thread will have this name.
    pub const fn new(thread: &'static str) -> Self {
        Self { thread, address: OnceLock::new() }
    }

    /// The address, once the connections are served.
    pub fn address<F>(&self, connection: impl Fn(TcpStream) -> F + Send + 'static) -> io::Result<SocketAddr>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let address = self.address.get_or_init(|| serve(self.thread, connection).map_err(Arc::new));
        address.as_ref().copied().map_err(|error| io::Error::new(error.kind(), Arc::clone(error)))
    }
}

/// Serves each connection in a task of its own, until the process ends.
///
/// Tests have runtimes of their own, and programs that ask may serve several of them: a thread that lasts answers.
fn serve<F>(thread: &str, connection: impl Fn(TcpStream) -> F + Send + 'static) -> io::Result<SocketAddr>
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener)?
    };
    let serve = async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream))),
                // Out of file descriptors, for example: later questions may come through.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    std::thread::Builder::new().name(thread.to_owned()).spawn(move || runtime.block_on(serve))?;
    Ok(address)
}
