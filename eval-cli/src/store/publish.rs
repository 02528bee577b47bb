//! Reports of runs in a store: as a page, as JSON, and as ADK's results.

use std::time::SystemTime;

use eval_report::formats;

use super::adk::put_results;
use super::layout;
use super::open::Store;
use super::push::JSON;
use crate::output::{CommandError, mask};
use crate::recorded::RunResults;
use crate::run_page;

/// Stores the report of a run, and returns what became of it in lines. `upload` is the upload that the run was part of; without one,
/// the report has a time of its own. ADK's results are filed under `app`, else under the app that the set names.
pub(crate) async fn publish(
    store: &Store,
    results: &RunResults<'_>,
    run: &str,
    upload: Option<&str>,
    app: Option<&str>,
) -> Result<String, CommandError> {
    let (page, document) = (run_page::text(results)?, formats::json(results)?);
    let upload = upload.map_or_else(|| layout::new_upload(SystemTime::now()), str::to_owned);
    let document = mask(&document).into_owned();
    store.put(&layout::report(run, &upload, "json"), document.into_bytes(), JSON).await?;
    let path = layout::report(run, &upload, "html");
    store.put(&path, page.into_bytes(), "text/html; charset=utf-8").await?;
    let mut lines = format!("stored        {}/{path}\n", store.shown());
    match formats::report(results) {
        Ok(report) => {
            let (places, notes) = put_results(store, report, app).await?;
            let places = places.iter().map(|path| format!("stored        {}/{path}\n", store.shown()));
            lines.extend(places);
            lines.extend(notes.iter().map(|note| format!("note          {note}\n")));
        }
        // The run is stored all the same, and its results can be later.
        Err(error) => lines.push_str(&format!(
            "note          no result for ADK is stored: {}; {}\n",
            error.message, error.help
        )),
    }
    Ok(lines)
}
