//! The ids in an answer.

use serde::Deserialize;

use super::ids::Kind;

/// The ids that the text of an answer gives, each once. What code wrote stands deeper in such a text, or in strings of it,
/// and gives nothing.
pub fn given(text: &str) -> Vec<(Kind, String)> {
    let Ok(answer) = serde_json::from_str::<Answer>(text) else { return Vec::new() };
    let Answer { session_id, job_id, batch_id, parent_session_id, jobs } = answer;
    let jobs = jobs.unwrap_or_default().into_iter();
    let mut given: Vec<(Kind, String)> = [
        (Kind::Session, session_id),
        (Kind::Session, parent_session_id),
        (Kind::Job, job_id),
        (Kind::Batch, batch_id),
    ]
    .into_iter()
    .chain(jobs.flat_map(|job| [(Kind::Job, job.job_id), (Kind::Session, job.session_id)]))
    .filter_map(|(kind, id)| Some((kind, id?)))
    .collect();
    given.sort();
    given.dedup();
    given
}

#[derive(Deserialize)]
struct Answer {
    session_id: Option<String>,
    job_id: Option<String>,
    batch_id: Option<String>,
    parent_session_id: Option<String>,
    jobs: Option<Vec<Job>>,
}

#[derive(Deserialize)]
struct Job {
    job_id: Option<String>,
    session_id: Option<String>,
}
