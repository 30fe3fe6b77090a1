//! What a user does with a server that runs code, step by step. The answers of two tours are compared, whoever stands
//! between client and server.
//!
//! A tour ends every session that it made, so that the next one finds the server as this one did.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::workbench::{Domain, Driven};
use serde_json::{Value, json};

/// What was done, and the whole answer.
pub(crate) type Step = (&'static str, Value);

/// One tour under way.
pub(crate) struct Tour<'a> {
    client: &'a mut Driven,
    domain: Domain,
    /// What the server is called where the client asks.
    shown: &'a str,
    /// The session that the server named, for the clients that have none.
    session: Option<String>,
    steps: Vec<Step>,
}

/// Does everything that the server can do, in an order that shows the same each time.
pub(crate) async fn tour(client: &mut Driven, domain: Domain, shown: &str) -> Result<Vec<Step>> {
    let mut tour = Tour { client, domain, shown, session: None, steps: Vec::new() };
    tour.what_is_not_there().await?;
    tour.what_is_known().await?;
    match domain {
        Domain::Chem => tour.code_that_ends().await?,
        Domain::Gis => tour.code_that_lasts().await?,
    }
    tour.sessions().await?;
    Ok(tour.steps)
}

impl Tour<'_> {
    fn named(&self, tool: &str) -> String {
        tool.replace("{n}", self.shown)
    }

    async fn step(&mut self, what: &'static str, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self.client.call(&self.named(tool), arguments).await?;
        self.steps.push((what, answer.clone()));
        Ok(answer)
    }

    /// The same; what its text says.
    async fn said(&mut self, what: &'static str, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self.step(what, tool, arguments).await?;
        let text = plugway_tests::workbench::text_of(&answer)?;
        serde_json::from_str(text).with_context(|| format!("{what}: {text}"))
    }

    /// Asks again until the text says so; only the last answer is a step.
    async fn until(
        &mut self,
        what: &'static str,
        tool: &str,
        arguments: Value,
        is_it: impl Fn(&Value) -> bool,
    ) -> Result<()> {
        let said = self.client.until(&self.named(tool), &arguments, is_it).await?;
        self.steps.push((what, said));
        Ok(())
    }

    /// Runs code in the session of this tour.
    async fn run(&mut self, what: &'static str, code: &str) -> Result<Value> {
        let mut arguments = json!({"code": code, "description": what});
        if let (true, Some(session)) = (self.client.speaks().is_modern, &self.session)
            && let Some(arguments) = arguments.as_object_mut()
        {
            arguments.insert("execution_session_id".to_owned(), json!(session));
        }
        let said = self.said(what, "execute_{n}_code", arguments).await?;
        let session = said.get("session_id").and_then(Value::as_str);
        self.session = Some(session.with_context(|| format!("no session in {said}"))?.to_owned());
        Ok(said)
    }

    async fn what_is_not_there(&mut self) -> Result<()> {
        let session = json!({"session_id": "nobody"});
        self.step("no session to inspect", "{n}_inspect_session", session.clone()).await?;
        self.step("no session to tell of", "{n}_get_session_info", session.clone()).await?;
        self.step("no session to close", "{n}_close_session", session).await?;
        self.step("no sessions", "{n}_list_sessions", json!({})).await?;
        self.step("no job", "{n}_check_job", json!({"job_id": "j_0123456789ab"})).await?;
        let batch = json!({"batch_id": "b_0123456789ab"});
        self.step("no batch", "{n}_check_batch", batch.clone()).await?;
        self.step("no batch to cancel", "{n}_cancel_batch", batch).await?;
        self.step("no destination", "{n}_send", json!({"data_ref": "x", "to": "mars"})).await?;
        self.step("no skill", "load_{n}_skill", json!({"skill_name": "zz"})).await?;
        self.step("no argument", "execute_{n}_code", json!({})).await?;
        let code = json!({"code": "1", "timeout": 0});
        self.step("no time", "execute_{n}_code", code).await?;
        self.step("unknown argument", "{n}_check_job", json!({"job_id": "j", "x": 1})).await?;
        Ok(())
    }

    async fn what_is_known(&mut self) -> Result<()> {
        let (query, skill, state, tool) = match self.domain {
            Domain::Chem => ("molecule descriptors", "drug-screening", "chem.molecule_parsed", "x"),
            Domain::Gis => ("points of a survey", "survey-map", "gis.points_loaded", "map_points"),
        };
        self.step("a search", "search_{n}_tools", json!({"query": query})).await?;
        self.step("everything", "search_{n}_tools", json!({"query": "", "top": 9})).await?;
        self.step("nothing found", "search_{n}_tools", json!({"query": "zzzz"})).await?;
        self.step("a skill", "load_{n}_skill", json!({"skill_name": skill})).await?;
        self.step("the plan", "plan_{n}_workflow", json!({})).await?;
        let next = json!({"mode": "next_steps", "current_state": state});
        self.step("next steps", "plan_{n}_workflow", next).await?;
        let one = json!({"mode": "tool", "tool_name": tool});
        self.step("one tool", "plan_{n}_workflow", one).await?;
        Ok(())
    }

    async fn code_that_ends(&mut self) -> Result<()> {
        self.run("a variable", "x = 41").await?;
        self.run("the variable is kept", "print(x + 1)").await?;
        let call = "print(compute_descriptors(atoms=parse_molecule(smiles='CCO')['atoms']))";
        self.run("functions of the server", call).await?;
        self.run("an exception", "1 / 0").await?;
        let file = "with open(agora_output('a.csv'), 'w') as f:\n    f.write('a,b\\n')";
        let made = self.run("a file", file).await?;
        let artifacts = made.get("artifacts").and_then(Value::as_array);
        ensure!(artifacts.is_some_and(|artifacts| artifacts.len() == 1), "{made}");
        let long = "print('\u{e9}' * 30_000)";
        self.run("much text", long).await?;
        Ok(())
    }

    async fn code_that_lasts(&mut self) -> Result<()> {
        self.run("short code", "y = 5\nprint(load_points(count=3))").await?;
        let long = "import time\nprint('begun', flush=True)\ntime.sleep(1.5)\nprint(y)";
        let promoted = self.run("long code becomes a job", long).await?;
        let job = json!({"job_id": promoted.get("job_id").context("no job")?});
        let is_over = |said: &Value| said.get("status").is_some_and(|status| status != "running");
        self.until("the job ends", "{n}_check_job", job, is_over).await?;

        let twice = json!({"code": "result = n * 2", "inputs": [{"n": 1}, {"n": 2}]});
        let batch = self.said("a batch", "{n}_parallel_execute", twice).await?;
        let batch = json!({"batch_id": batch.get("batch_id").context("no batch")?});
        self.until("the batch ends", "{n}_check_batch", batch.clone(), is_over).await?;
        self.step("what is told once", "{n}_check_batch", batch).await?;

        let slow = json!({"code": "import time\ntime.sleep(100)", "inputs": [{"n": 1}]});
        let batch = self.said("a slow batch", "{n}_parallel_execute", slow).await?;
        let batch = json!({"batch_id": batch.get("batch_id").context("no batch")?});
        self.step("it runs", "{n}_check_batch", batch.clone()).await?;
        self.step("it is cancelled", "{n}_cancel_batch", batch).await?;
        Ok(())
    }

    /// Tells of the session of this tour and closes whatever is open.
    async fn sessions(&mut self) -> Result<()> {
        let own = json!({"session_id": self.session});
        self.step("the session's variables", "{n}_inspect_session", own.clone()).await?;
        self.step("the session", "{n}_get_session_info", own.clone()).await?;
        let listed = self.client.json(&self.named("{n}_list_sessions"), json!({})).await?;
        for session in listed.get("sessions").and_then(Value::as_array).into_iter().flatten() {
            let id = session.get("session_id").cloned();
            if id != own.get("session_id").cloned() {
                let close = self.named("{n}_close_session");
                self.client.call(&close, json!({"session_id": id})).await?;
            }
        }
        self.step("one session", "{n}_list_sessions", json!({"summary_only": false})).await?;
        self.step("it is closed", "{n}_close_session", own.clone()).await?;
        let is_empty = |said: &Value| said.get("count").is_some_and(|count| count == 0);
        self.until("no session is left", "{n}_list_sessions", json!({}), is_empty).await?;
        self.step("it is gone", "{n}_inspect_session", own).await?;
        Ok(())
    }
}
