use eval_core::*;
#[eval_set("samples/weather.evalset.json")]
async fn weather() -> impl Agent {
    agent_fn(|_text, recorder| async move {
        let city = "Paris";
        let sky =
            recorder.tool("get_weather", json!({"city": city}), async { Ok::<_, BoxError>("sunny") }).await?;
        Ok::<_, BoxError>(format!("It is {sky} in {city}."))
    })
}
