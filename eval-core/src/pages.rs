//! The pages of `docs/` as rustdoc.
//!
//! A page links to other pages by reference links, whose definitions at its end are for readers of the repository. Here,
//! definitions in front of the page lead to where those pages are in rustdoc; of two definitions the first one counts. A
//! link to a page whose feature is off leads to the table of features.

/// The text of a page.
macro_rules! page {
    ($file:literal) => {
        concat!(
            // A definition cannot follow a line of text, and rustdoc takes one line break away.
            "\n\n",
            $crate::pages::links!(),
            $crate::pages::attribute_links!(),
            $crate::pages::judge_links!(),
            $crate::pages::model_links!(),
            $crate::pages::recorded_links!(),
            "\n",
            include_str!($file)
        )
    };
}

macro_rules! links {
    () => {
        concat!(
            "[agents]: crate::agent\n",
            "[limits]: https://docs.rs/eval-agents\n",
            "[server state]: https://docs.rs/eval-agents\n",
            "[any agent]: https://docs.rs/eval-agents\n",
            "[at most]: crate::metric#at-most\n",
            "[baseline]: crate::_documentation::baseline\n",
            "[baseline limits]: crate::_documentation::baseline#limits\n",
            "[buckets]: crate::_documentation::store\n",
            "[categories]: crate::_documentation::baseline#each-case-side-by-side\n",
            "[chunks]: crate::agent#streamed-answers\n",
            "[ci]: crate::_documentation::ci\n",
            "[command line]: crate::_documentation::command_line\n",
            "[comparable]: crate::_documentation::baseline#what-can-be-compared\n",
            "[config files]: crate::_documentation::configuration#config-files\n",
            "[configuration]: crate::_documentation::configuration\n",
            "[decides]: crate::metric#what-decides-a-case\n",
            "[deciding]: crate::_documentation::differences#running-and-deciding\n",
            "[differences]: crate::_documentation::differences\n",
            "[doubtful]: crate::_documentation::command_line#when-a-report-is-a-pass\n",
            "[editor]: crate::_documentation::eval_set#in-the-editor\n",
            "[eval set]: crate::_documentation::eval_set\n",
            "[environment]: crate::_documentation::configuration#environment-variables\n",
            "[expect]: crate::_documentation::expect\n",
            "[exports]: crate::_documentation::differences#exports\n",
            "[exporter]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/stored_traces#how-to-write-such-a-file\n",
            "[features]: crate::_documentation::configuration#features\n",
            "[functions and classes]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/python#functions-and-classes\n",
            "[fault files]: crate::_documentation::golden_tools#fault-files\n",
            "[golden tools]: crate::_documentation::golden_tools\n",
            "[mcp]: crate::_documentation::golden_tools#tools-from-mcp-servers\n",
            "[goldens]: crate::_documentation::goldens\n",
            "[importing]: crate::_documentation::goldens#importing\n",
            "[linked]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/stored_traces#which-conversation-belongs-to-a-case\n",
            "[measurements]: crate::_documentation::measurements\n",
            "[metric programs]: crate::metric#programs-as-metrics\n",
            "[metrics]: crate::metric\n",
            "[own metrics]: crate::metric#metrics-of-your-own\n",
            "[page]: crate::_documentation::page\n",
            "[plan]: crate::_documentation::command_line#plan\n",
            "[precedence]: crate::_documentation::configuration#what-goes-before-what\n",
            "[printed]: crate::_documentation::ci#what-is-printed\n",
            "[programs]: crate::runner\n",
            "[protocol]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/protocol\n",
            "[agents of python]: crate::_documentation::command_line#agents-of-python\n",
            "[python interpreter]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/python#the-first-golden\n",
            "[python metrics]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/python#metrics\n",
            "[evaluators]: crate::_documentation::from_agentevals#the-config\n",
            "[record]: crate::_documentation::configuration#what-a-run-records\n",
            "[recording]: crate::_documentation::goldens#recording\n",
            "[report]: crate::_documentation::command_line#when-a-report-is-a-pass\n",
            "[reports]: https://docs.rs/eval-report\n",
            "[report as JSON]: https://docs.rs/eval-report\n",
            "[rerun]: crate::_documentation::command_line#rerun\n",
            "[run]: crate::_documentation::command_line#run\n",
            "[secrets]: crate::_documentation::configuration#secrets\n",
            "[whose]: crate::_documentation::configuration#whose-a-run-is\n",
            "[service]: https://docs.rs/eval-server\n",
            "[share]: crate::agent#what-tests-share\n",
            "[store]: crate::_documentation::store#several-machines\n",
            "[tags]: crate::_documentation::eval_set#tags\n",
            "[variant]: crate::EvalRunner::variant\n",
            "[variants]: crate::_documentation::variants\n",
            "[traces]: https://docs.rs/eval-agents/latest/eval_agents/_documentation/stored_traces\n",
            "[reviewing]: crate::_documentation::goldens#reviewing-what-failed\n",
            "[updating]: crate::_documentation::goldens#updating-on-purpose\n",
            "[worse]: crate::_documentation::worse\n",
            "[which runs]: crate::_documentation::baseline#which-runs-are-taken\n",
            "[what may vary]: crate::_documentation::eval_set#what-may-vary\n",
            "[unicode]: crate::_documentation::differences#unicode\n",
            "[unreachable]: crate::agent#when-an-agent-is-not-reached\n",
        )
    };
}

#[cfg(feature = "macros")]
macro_rules! attribute_links {
    () => {
        concat!(
            "[arguments]: macro@crate::eval_set#the-arguments\n",
            "[attribute]: macro@crate::eval_set\n",
            "[directories]: macro@crate::eval_set#directories\n",
            "[large sets]: macro@crate::eval_set#large-sets\n",
            "[tracking]: macro@crate::eval_set#what-makes-cargo-build-again\n",
        )
    };
}

#[cfg(not(feature = "macros"))]
macro_rules! attribute_links {
    () => {
        concat!(
            "[arguments]: crate::_documentation::configuration#features\n",
            "[attribute]: crate::_documentation::configuration#features\n",
            "[directories]: crate::_documentation::configuration#features\n",
            "[large sets]: crate::_documentation::configuration#features\n",
            "[tracking]: crate::_documentation::configuration#features\n",
        )
    };
}

#[cfg(feature = "models")]
macro_rules! recorded_links {
    () => {
        concat!(
            "[recorded models]: crate::models\n",
            "[model faults]: crate::models#faults\n",
            "[limits of models]: crate::models#limits-of-a-paid-run\n",
            "[recorded calls]: crate::models#tokens-and-cost-in-reports\n",
        )
    };
}

#[cfg(not(feature = "models"))]
macro_rules! recorded_links {
    () => {
        concat!(
            "[recorded models]: crate::_documentation::configuration#features\n",
            "[limits of models]: crate::_documentation::configuration#features\n",
            "[recorded calls]: crate::_documentation::configuration#features\n",
            "[model faults]: crate::_documentation::configuration#features\n",
        )
    };
}

#[cfg(feature = "judges")]
macro_rules! judge_links {
    () => {
        concat!(
            "[judges]: crate::judge\n",
            "[no judge]: crate::judge#without-a-judge\n",
            "[recorded]: crate::judge#recordings\n",
            "[scenarios]: crate::scenario\n",
            "[whom]: crate::judge#whom-a-metric-asks\n",
        )
    };
}

#[cfg(not(feature = "judges"))]
macro_rules! judge_links {
    () => {
        concat!(
            "[judges]: crate::_documentation::configuration#features\n",
            "[no judge]: crate::_documentation::configuration#features\n",
            "[recorded]: crate::_documentation::configuration#features\n",
            "[scenarios]: crate::_documentation::configuration#features\n",
            "[worse]: crate::_documentation::worse\n",
            "[whom]: crate::_documentation::configuration#features\n",
        )
    };
}

#[cfg(feature = "model-judge")]
macro_rules! model_links {
    () => {
        "[models]: crate::judge::ModelJudge\n"
    };
}

#[cfg(not(feature = "model-judge"))]
macro_rules! model_links {
    () => {
        "[models]: crate::_documentation::configuration#features\n"
    };
}

pub(crate) use {attribute_links, judge_links, links, model_links, page, recorded_links};
