//! How servers share what is bounded: who wants little gets all of it, the others get the same.

/// What each gets of `total`: never more than it wants, and nobody gets less than another who got less than it wants.
pub fn shares(wanted: &[usize], total: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|one| wanted.get(*one).copied());
    let (mut left, mut people) = (total, wanted.len());
    let mut given = vec![0; wanted.len()];
    for one in order {
        let (Some(wants), Some(gets)) = (wanted.get(one), given.get_mut(one)) else { continue };
        *gets = (*wants).min(left / people.max(1));
        left -= *gets;
        people -= 1;
    }
    given
}
