//! Catalogues that are none, or too much, or not what they seem: they are left out or bounded, and hurt no other server.

use anyhow::{Result, ensure};
use plugway_tests::coder::{Page, catalogue, function, page};
use serde_json::{Value, json};

use super::{chem, gis, hub, names, search};

fn json_page(text: String) -> Page {
    (200, "application/json", text)
}

#[tokio::test]
async fn what_is_no_catalogue_is_left_out_with_one_warning() -> Result<()> {
    let deep = format!(r#"{{"tools":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    let large = format!(r#"{{"tools":[],"x":"{}"}}"#, "x".repeat(5 << 20));
    for (page, reason) in [
        ((200, "text/html", "<html></html>".to_owned()), "it is no JSON object"),
        (json_page("[]".to_owned()), "it is no JSON object"),
        (json_page(r#"{"tools": ["#.to_owned()), "JSON"),
        (json_page(deep), "nested deeper"),
        (json_page(large), "it has more than 4194304 bytes"),
        ((302, "text/plain", String::new()), "it answers 302"),
        ((401, "text/plain", String::new()), "it answers 401"),
        (json_page(r#"{"tools": 7}"#.to_owned()), "the catalogue of chem is left out"),
    ] {
        let (chem, gis) = (chem().await?, gis().await?);
        chem.shows(page);
        let plugway = hub(&[("chem", &chem), ("gis", &gis)]).start().await?;
        let client = plugway.modern();
        ensure!(names(&search(&client, "points").await?["tools"]) == ["map_points"], "{reason}");
        ensure!(
            names(&search(&client, "check job").await?["tools"]) == ["chem_check_job"],
            "{reason}"
        );
        let lines = plugway.stderr();
        let said: Vec<_> = lines.iter().filter(|line| line.contains("atalogue of")).collect();
        let warned = said.iter().filter(|line| line.contains(reason)).count();
        ensure!(warned >= 1, "no `{reason}` in {said:?}");
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

#[tokio::test]
async fn a_hundred_thousand_functions_and_odd_names_are_bounded() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let odd = ["a\u{202e}b", "a\u{7}b", "", "a\u{200b}", "good"];
    let odd: Vec<Value> = odd.iter().map(|name| function(name, "odd", &[], &[])).collect();
    chem.shows(page(&catalogue("chem", &odd)));
    let plugway = hub(&[("chem", &chem), ("gis", &gis)]).start().await?;
    let client = plugway.modern();
    let found = search(&client, "odd").await?;
    ensure!(names(&found["tools"]) == ["good"], "{found}");
    plugway.logged("4 functions or skills of chem are left out", super::BOUND).await?;
    let many: Vec<Value> = (0..100_000).map(|one| json!({"name": format!("f{one}")})).collect();
    chem.shows(page(&json!({"tools": many})));
    plugway_tests::wait::until("the many are read", super::BOUND, async || {
        let found = search(&client, "f9000").await?;
        Ok((names(&found["tools"]) == ["f9000"]).then_some(()))
    })
    .await?;
    ensure!(names(&search(&client, "points").await?["tools"]) == ["map_points"]);
    // Beyond ten thousand nothing is read.
    ensure!(search(&client, "f99999").await?["tools"] == json!([]));
    let shown = plugway.get("/catalog").await?;
    ensure!(shown.status == 200 && shown.body.len() < 4 << 20);
    ensure!(names(&shown.json()?["tools"]).contains(&"map_points"));
    Ok(())
}
