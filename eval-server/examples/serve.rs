//! A service in a program of one's own: `cargo run -p eval-server --example serve -- 8001`.

use std::error::Error;
use std::io::{Write, stdout};

use eval_server::{Server, ServerOptions, stop_signal};

fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(8001), |port| port.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(([127, 0, 0, 1], port).into(), ServerOptions::new()).await?;
        writeln!(stdout(), "{}", server.url())?;
        server.run(stop_signal()).await;
        Ok(())
    })
}
