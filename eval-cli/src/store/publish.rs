//! Storing reports of a run.

use super::layout;
use super::open::Store;
use super::push::JSON;
use crate::output::CommandError;

/// Stores a report as a page and as JSON, and returns the place of the page. `upload` is the upload that the run was part of;
/// without one, the report has a time of its own.
pub(crate) async fn publish(
    store: &Store,
    run: &str,
    upload: Option<&str>,
    page: String,
    json: String,
) -> Result<String, CommandError> {
    let own = || layout::new_upload(std::time::SystemTime::now());
    let upload = upload.map_or_else(own, str::to_owned);
    store.put(&layout::report(run, &upload, "json"), json.into_bytes(), JSON).await?;
    let path = layout::report(run, &upload, "html");
    store.put(&path, page.into_bytes(), "text/html; charset=utf-8").await?;
    Ok(path)
}
