use quote::quote;

use crate::expansion;

/// The expansion of a function, formatted as a person would have written it.
fn expanded(args: &str, item: &str) -> String {
    let tokens = expansion(args.parse().unwrap(), &item.parse().unwrap());
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

#[test]
fn a_file_becomes_a_module_of_one_line_tests() {
    let expanded = expanded(
        r#""tests/sets/weather.evalset.json", cases = "refund*""#,
        "#[ignore = \"paid\"] async fn weather() -> impl Agent { Echo }",
    );
    assert_eq!(expanded, WEATHER);
}

#[test]
fn folders_are_modules_and_each_file_has_its_own_config() {
    let expanded = expanded(r#""tests/sets/several""#, "fn trips() -> impl Agent { Echo }");
    for part in [
        "static __SETS: [::eval_core::__private::SetSource; 2usize]",
        "test: \"trips::deep::hotel::type_\"",
        "test: \"trips::trip::book\"",
        "absent: &[\n                \"tests/sets/several/test_config.json\",\n                \"tests/sets/several/eval_config.json\",\n            ]",
        "file: \"tests/sets/several/deep/test_config.json\"",
        "    mod deep {\n        mod hotel {\n",
        "            use super::super::super::__evalset_trips;",
        "{\n            __evalset_trips(1usize, 0usize).await",
        "fn is_current()",
    ] {
        assert!(expanded.contains(part), "{part} is not in\n{expanded}");
    }
}

#[test]
fn a_lint_is_allowed_only_where_a_name_needs_it() {
    let weather = quote!(
        fn weather() -> impl Agent {
            Echo
        }
    );
    let camel = quote!(
        fn Weather() -> impl Agent {
            Echo
        }
    );
    for (function, cases, needs) in
        [(&weather, "refund*", false), (&weather, "*Paris", true), (&camel, "refund*", true)]
    {
        let args = quote!("tests/sets/weather.evalset.json", cases = #cases);
        let expanded = expansion(args, function).to_string();
        assert_eq!(expanded.contains("# [allow (non_snake_case"), needs, "{cases}");
    }
}

#[test]
fn options_reach_the_runner_and_tokio() {
    let expanded = expanded(
        r#""tests/sets/weather.evalset.json", runs = 3, pass = "at_least(2)", gate = "every_turn",
           timeout = "5s", tools = "real", criteria(tone = 0.5), metrics(tone = style::tone), judge = style::judge, flavor = "current_thread",
           crate = facade::evals"#,
        "fn weather() -> impl Agent { Echo }",
    );
    for part in [
        "options.runs = 3;",
        "options.pass = facade::evals::__private::PassRule::AtLeast(2u32)",
        "options.gate = facade::evals::__private::TurnAggregation::EveryTurn",
        "options.timeout = ::core::time::Duration::from_millis(5000u64)",
        r#"facade::evals::__private::ConfigSource::Inline(
                "{\"criteria\": {\"tone\": 0.5}}",
            )"#,
        "metrics: &[(\"tone\", || facade::evals::__private::metric(style::tone))]",
        "use facade::evals::__private::tokio as __tokio;",
        "flavor = \"current_thread\"",
        "judge: facade::evals::__private::judges! {",
        "facade::evals::__private::judge(style::judge)) } {\n            ::core::option::Option::None }",
    ] {
        assert!(expanded.contains(part), "{part} is not in\n{expanded}");
    }
    assert!(!expanded.contains("::eval_core::"), "{expanded}");
}

#[test]
fn each_variant_has_all_tests_in_modules_of_its_values() {
    let expanded = expanded(
        r#""tests/sets/several", matrix(model = ["gpt-4", "b"], type_of = ["x y"], exclude = [(model = "b")])"#,
        "fn trips(variant: &trips::Variant) -> impl Agent { Echo }",
    );
    for part in [
        "fn __evalfn_trips(\n    __variant: &'static trips::Variant,\n)",
        "annotated: ::eval_core::__private::annotated_variant(trips, __variant)",
        "static __VARIANTS: [trips::Variant; 1usize] = [\n        trips::Variant {\n            model: \"gpt-4\",\n            type_of: \"x y\",",
        "modules: \"gpt_4::x_y\",\n            label: \"model=gpt-4 type_of=\\\"x y\\\"\",\n            order: 0usize,",
        // The name without the variant, and the name of the test.
        "test: \"trips::trip::book\"",
        "trips::gpt_4::x_y::trip::book",
        "pub struct Variant {\n        pub model: &'static ::core::primitive::str,",
        "    #[cfg(test)]\n    mod gpt_4 {\n        mod x_y {\n",
        "use super::super::super::super::__evalset_trips;",
        "__evalset_trips(0usize, 1usize, 0usize).await",
    ] {
        assert!(expanded.contains(part), "{part} is not in\n{expanded}");
    }
    assert!(!expanded.contains("mod b"), "{expanded}");
}

#[test]
fn a_large_matrix_is_a_warning_and_a_larger_one_a_mistake() {
    let of = |values: usize| {
        let values: Vec<String> = (0..values).map(|value| format!("\"v{value}\"")).collect();
        let args = format!(r#""tests/sets/several", matrix(model = [{}])"#, values.join(", "));
        let item = "fn trips(variant: &trips::Variant) -> A { a }".parse().unwrap();
        expansion(args.parse().unwrap(), &item).to_string()
    };
    let warning =
        "deprecated (note = \"501 variants of 2 cases are 1,002 tests: `exclude` leaves variants out";
    let (few, many, most) = (of(500), of(501), of(1_001));
    assert!(!few.contains("deprecated") && few.contains("mod v499"), "{few}");
    assert!(many.contains(warning) && many.contains("mod v500") && !many.contains("compile_error"));
    let error = "compile_error ! { \"the matrix has more than 1,000 variants";
    assert!(most.contains(error) && !most.contains("mod v0"), "{most}");
}

#[test]
fn a_mistake_leaves_the_type_of_the_variants() {
    let of = |args: &str| {
        let item = "fn weather(_: &weather::Variant) -> A { a }".parse().unwrap();
        expansion(args.parse().unwrap(), &item).to_string()
    };
    let tokens =
        of(r#""tests/sets/nowhere.evalset.json", matrix(model = ["a"], type = ["b"], model = ["c"])"#);
    assert_eq!(tokens.matches("compile_error !").count(), 3, "{tokens}");
    assert!(tokens.contains("pub struct Variant { pub model : & 'static"), "{tokens}");
}

#[test]
fn a_recording_is_named_only_if_something_may_ask() {
    for (args, may_ask) in [
        (r#""tests/samples/units/units.evalset.json""#, false),
        (r#""tests/samples/units/units.evalset.json", criteria(safety_v1 = 0.5)"#, true),
        (
            r#""tests/samples/units/units.evalset.json", criteria(tone = 0.5), metrics(tone = style::tone)"#,
            true,
        ),
        // A case is a scenario.
        (r#""tests/samples/hotel/hotel.evalset.json""#, true),
        // This set has a recording.
        (r#""tests/samples/weather/weather.evalset.json", criteria(response_match_score = 0.5)"#, true),
    ] {
        let expanded = expanded(args, "fn evals() -> impl Agent { Echo }");
        assert!(expanded.contains("mod evals"), "{args}: {expanded}");
        assert_eq!(
            expanded.contains("recording: ::core::option::Option::Some("),
            may_ask,
            "{args}: {expanded}"
        );
    }
}

#[test]
fn several_threads_need_a_feature() {
    let expanded = expansion(
        quote!("tests/sets/weather.evalset.json", flavor = "multi_thread", worker_threads = 2),
        &quote!(
            fn weather() -> impl Agent {
                Echo
            }
        ),
    );
    let expanded = expanded.to_string();
    for part in [
        ":: eval_core :: __private :: multi_thread ! { { # [cfg (test)]",
        r#"flavor = "multi_thread" , worker_threads = 2"#,
        r#"multi_thread ! { { } { :: core :: compile_error ! { "`flavor = \"multi_thread\"` needs the feature `multi-thread`"#,
    ] {
        assert!(expanded.contains(part), "{part} is not in\n{expanded}");
    }
}

/// The headlines of the errors that hold only without the feature `judges`.
fn judges_needed(args: &str) -> Vec<String> {
    let tokens = expansion(
        args.parse().unwrap(),
        &quote!(
            fn evals() -> impl Agent {
                Echo
            }
        ),
    )
    .to_string();
    let Some((_, errors)) = tokens.split_once("judges ! { { } {") else { return Vec::new() };
    let (errors, _) = errors.split_once("} }").unwrap();
    errors
        .split("compile_error ! { \"")
        .skip(1)
        .map(|it| it.split("\\n").next().unwrap().to_owned())
        .collect()
}

#[test]
fn what_asks_a_judge_needs_a_feature() {
    for (args, expected) in [
        (r#""tests/samples/units/units.evalset.json""#, &[][..]),
        (
            r#""tests/samples/units/units.evalset.json", criteria(safety_v1 = 0.5, tone = 1.0), metrics(tone)"#,
            &["`safety_v1` asks a judge, which needs the feature `judges` of `eval-core`"],
        ),
        (r#""tests/samples/units/units.evalset.json", criteria(safety_v1 = 0.5), metrics(safety_v1)"#, &[]),
        (
            r#""tests/samples/units/units.evalset.json", judge = mine"#,
            &["`judge` needs the feature `judges` of `eval-core`"],
        ),
        (
            r#""tests/samples/weather/weather.evalset.json", config = "tests/samples/weather/judged.json""#,
            &[
                "`final_response_match_v2` asks a judge, which needs the feature `judges` of `eval-core`",
                "`rubric_based_final_response_quality_v1` asks a judge, which needs the feature `judges` of `eval-core`",
            ],
        ),
        (
            r#""tests/samples/hotel/hotel.evalset.json", cases = "has to *", criteria(tone = 1.0), metrics(tone)"#,
            &["case `has to be asked` has a simulated user, which needs the feature `judges` of `eval-core`"],
        ),
        // A recording beside the set needs no judge.
        (r#""tests/samples/weather/weather.evalset.json", criteria(response_match_score = 0.5)"#, &[]),
    ] {
        assert_eq!(judges_needed(args), expected, "{args}");
    }
}

#[test]
fn a_case_that_cannot_be_run_may_be_left_out() {
    let set = "tests/sets/scenario.evalset.json";
    let weather = quote!(
        fn weather() -> impl Agent {
            Echo
        }
    );
    let whole = expansion(quote!(#set), &weather).to_string();
    assert!(whole.contains("compile_error"), "{whole}");
    let part = expansion(quote!(#set, cases = "!traveller"), &weather).to_string();
    assert!(!part.contains("compile_error") && part.contains("async fn sunny ()"), "{part}");
}

#[test]
fn cases_of_a_tag_become_tests() {
    let set = "tests/sets/tagged.evalset.json";
    let weather = quote!(
        fn weather() -> impl Agent {
            Echo
        }
    );
    for (args, sunny, rainy) in [
        (quote!(#set), true, true),
        (quote!(#set, cases = "tag:smoke"), true, false),
        (quote!(#set, cases = ["!tag:s*", "*"]), false, false),
        (quote!(#set, cases = "!tag:paris"), false, true),
        (quote!(#set, cases = ["tag:slow", "sunny"]), true, true),
    ] {
        let expanded = expansion(args.clone(), &weather).to_string();
        let has = |name: &str| expanded.contains(&format!("async fn {name} ()"));
        assert_eq!((has("sunny"), has("rainy")), (sunny, rainy), "{args}: {expanded}");
        assert_eq!(expanded.contains("compile_error"), !sunny && !rainy, "{args}: {expanded}");
    }
}

#[test]
fn no_path_of_this_machine_is_in_the_expansion() {
    let expanded = expanded(r#""tests/sets/several""#, "fn trips() -> impl Agent { Echo }");
    assert!(!expanded.contains(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn on_an_error_the_function_stays_and_its_type_is_still_checked() {
    let tokens = expansion(
        quote!("tests/sets/nowhere.evalset.json", runs = 0),
        &quote!(
            #[ignore]
            fn weather() -> impl Agent {
                Echo
            }
        ),
    );
    let tokens = tokens.to_string();
    assert_eq!(tokens.matches("compile_error !").count(), 2, "{tokens}");
    assert!(tokens.contains("fn weather () -> impl Agent { Echo }"), "{tokens}");
    assert!(tokens.contains(":: eval_core :: __private :: annotated (weather)"), "{tokens}");
    assert!(!tokens.contains("mod weather"), "{tokens}");
}

#[test]
fn what_is_no_function_stays_as_it_is() {
    let tokens = expansion(
        quote!("tests/sets/weather.evalset.json"),
        &quote!(
            struct Weather;
        ),
    );
    assert!(tokens.to_string().ends_with("struct Weather ;"), "{tokens}");
}

const WEATHER: &str = r#"async fn weather() -> impl Agent {
    Echo
}
#[doc(hidden)]
fn __evalfn_weather() -> ::eval_core::__private::Functions {
    ::eval_core::__private::Functions {
        annotated: ::eval_core::__private::annotated(weather),
        metrics: &[],
        judge: ::core::option::Option::None,
    }
}
const _: () = {
    let _ = __evalfn_weather;
};
#[cfg(test)]
#[doc(hidden)]
fn __evalset_weather(
    __set: ::core::primitive::usize,
    __case: ::core::primitive::usize,
) -> ::eval_core::__private::CaseTest {
    static __SETS: [::eval_core::__private::SetSource; 1usize] = [
        ::eval_core::__private::SetSource {
            manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
            package: ::core::env!("CARGO_PKG_NAME"),
            target: ::eval_core::__private::Target::Unknown,
            file: "tests/sets/weather.evalset.json",
            shown: "tests/sets/weather.evalset.json",
            text: ::core::include_str!(
                ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/",
                "tests/sets/weather.evalset.json")
            ),
            form: ::eval_core::__private::SetFormat::EvalSet,
            eval_set_id: "weather",
            cases: &[
                ::eval_core::__private::CaseSource {
                    eval_id: "refund-declined",
                    test: "weather::refund_declined",
                    start: 269usize,
                    end: 481usize,
                    line: 8u32,
                    column: 5u32,
                },
                ::eval_core::__private::CaseSource {
                    eval_id: "refund-granted",
                    test: "weather::refund_granted",
                    start: 487usize,
                    end: 698usize,
                    line: 12u32,
                    column: 5u32,
                },
            ],
            listing: ::core::concat!(
                "\n#evalset-tests-1 ignored ", ::core::module_path!(),
                "\nweather::refund_declined\nweather::refund_granted\n#evalset-tests-end\n"
            ),
            config: ::eval_core::__private::ConfigSource::Default,
            session: ::core::option::Option::None,
            faults: ::core::option::Option::None,
            model_faults: ::core::option::Option::None,
            tool_list: ::core::option::Option::None,
            absent: &["tests/sets/test_config.json", "tests/sets/eval_config.json"],
            options: {
                let mut options = ::eval_core::__private::Options::DEFAULT;
                options.runs = 1;
                options.pass = ::eval_core::__private::PassRule::Mean;
                options.gate = ::eval_core::__private::TurnAggregation::Mean;
                options
            },
            recording: ::core::option::Option::None,
            models: ::core::option::Option::None,
        },
    ];
    ::eval_core::__private::run(
        &__SETS[__set],
        __case,
        ::core::module_path!(),
        ::core::option::Option::None,
        __evalfn_weather(),
    )
}
#[cfg(test)]
mod weather {
    use ::eval_core::__private::tokio as __tokio;
    use super::__evalset_weather;
    #[__tokio::test(crate = "__tokio")]
    #[ignore = "paid"]
    async fn refund_declined() {
        __evalset_weather(0usize, 0usize).await
    }
    #[__tokio::test(crate = "__tokio")]
    #[ignore = "paid"]
    async fn refund_granted() {
        __evalset_weather(0usize, 1usize).await
    }
}
"#;
