//! The signals that end a service.

/// Ends when the process is asked to end: at Ctrl-C, and on Unix at SIGTERM, which service managers send.
///
/// Never, if neither can be noticed: the system then ends the process.
pub async fn stop_signal() {
    tokio::select! {
        () = ctrl_c() => {}
        () = terminated() => {}
    }
}

async fn ctrl_c() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signals) => drop(signals.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
