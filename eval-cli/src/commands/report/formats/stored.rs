//! A report in a store: as a page, as JSON, and as ADK's results.

use crate::output::mask;

use crate::output::CommandError;
use crate::recorded::RunResults;
use crate::run_page;
use crate::store::{Store, publish, put_results};
use eval_report::formats;

/// Stores the report, and returns what became of it in lines.
pub(in crate::commands) async fn store(
    store: &Store,
    results: &RunResults<'_>,
    run: &str,
    upload: Option<&str>,
    app: Option<&str>,
) -> Result<String, CommandError> {
    let (page, document) = (run_page::text(results)?, formats::json(results)?);
    let page = publish(store, run, upload, page, mask(&document).into_owned()).await?;
    let mut lines = format!("stored        {}/{page}\n", store.shown());
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
