//! Counters that only grow, whatever becomes of what counts. A reload makes upstreams and plugins anew, and they count
//! from zero: what their predecessors had counted when they were last read is added.

use std::collections::HashMap;

/// What was read last of each series.
#[derive(Debug, Default)]
pub struct Ledger {
    series: HashMap<String, Series>,
    round: u64,
}

#[derive(Debug, Default)]
struct Series {
    last: Vec<u64>,
    before: Vec<u64>,
    round: u64,
}

impl Ledger {
    /// A reading begins. Series that the last one did not meet are forgotten: what they stood for is gone.
    pub fn begin(&mut self) {
        let last = self.round;
        self.series.retain(|_, series| series.round == last);
        self.round += 1;
    }

    /// The numbers of a series that belong together, such as the buckets of a histogram: where one of them is smaller
    /// than it was, all of them count anew.
    pub fn settle(&mut self, name: String, values: &mut [u64]) {
        let series = self.series.entry(name).or_default();
        series.round = self.round;
        series.last.resize(values.len(), 0);
        series.before.resize(values.len(), 0);
        let anew = values.iter().zip(&series.last).any(|(now, last)| now < last);
        for ((now, last), before) in values.iter_mut().zip(&mut series.last).zip(&mut series.before)
        {
            if anew {
                *before = before.saturating_add(*last);
            }
            *last = *now;
            *now = now.saturating_add(*before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;

    fn read(ledger: &mut Ledger, name: &str, values: &[u64]) -> Vec<u64> {
        let mut values = values.to_vec();
        ledger.settle(name.to_owned(), &mut values);
        values
    }

    #[test]
    fn what_counts_anew_goes_on_where_it_was() {
        let mut ledger = Ledger::default();
        for (value, shown) in [(3, 3), (5, 5), (1, 6), (4, 9), (4, 9), (0, 9), (2, 11)] {
            ledger.begin();
            assert_eq!(read(&mut ledger, "a", &[value]), [shown]);
        }
    }

    #[test]
    fn numbers_that_belong_together_start_together() {
        let mut ledger = Ledger::default();
        ledger.begin();
        assert_eq!(read(&mut ledger, "a", &[10, 10]), [10, 10]);
        ledger.begin();
        assert_eq!(read(&mut ledger, "a", &[9, 11]), [19, 21], "buckets stay cumulative");
    }

    #[test]
    fn what_is_not_read_any_more_is_forgotten() {
        let mut ledger = Ledger::default();
        ledger.begin();
        read(&mut ledger, "a", &[3]);
        read(&mut ledger, "b", &[3]);
        ledger.begin();
        read(&mut ledger, "b", &[1]);
        ledger.begin();
        assert_eq!(ledger.series.len(), 1);
        assert_eq!(read(&mut ledger, "b", &[1]), [4]);
    }
}
