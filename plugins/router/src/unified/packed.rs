//! Numbers and words as short texts: they travel in the document beside a shape, and an instance that reads it for its first
//! call must not build ten thousand things to find one.

/// Values of one digit without the mark that another one follows.
const BASE: u32 = 32;

/// Numbers, one behind the other.
///
/// A number is written in digits to the base 32, the lowest first; each but the last carries a mark. Digits are printable
/// ASCII without blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed(String);

impl Packed {
    /// The packed form of these numbers.
    pub fn of(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut packed = Self::default();
        numbers.into_iter().for_each(|number| packed.push(number));
        packed
    }

    /// Adds a number.
    pub fn push(&mut self, mut number: u32) {
        while number >= BASE {
            self.0.push(digit(number % BASE + BASE));
            number /= BASE;
        }
        self.0.push(digit(number));
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// The numbers in a text, up to where it makes no sense.
pub fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let mut bytes = text.bytes();
    std::iter::from_fn(move || {
        let (mut number, mut weight) = (0_u32, 1_u32);
        loop {
            let value = value(bytes.next()?)?;
            number = number.checked_add((value % BASE).checked_mul(weight)?)?;
            if value < BASE {
                return Some(number);
            }
            weight = weight.checked_mul(BASE)?;
        }
    })
}

/// 64 values: `#` to `[` and `]` to `c`.
fn digit(value: u32) -> char {
    let code = if value < 57 { 35 + value } else { 36 + value };
    char::from_u32(code).unwrap_or('#')
}

fn value(byte: u8) -> Option<u32> {
    match u32::from(byte) {
        code @ 35..=91 => Some(code - 35),
        code @ 93..=99 => Some(code - 36),
        _ => None,
    }
}

/// Texts that are neither empty nor hold a blank, in one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joined {
    /// All of them, with a blank between two.
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Joined {
    /// These texts.
    pub fn of<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> Self {
        let mut joined = Self::default();
        for part in parts {
            if !joined.ends.is_empty() {
                joined.text.push(' ');
            }
            joined.text.push_str(part.as_ref());
            joined.ends.push(u32::try_from(joined.text.len()).unwrap_or(u32::MAX));
        }
        joined
    }

    /// The texts in their joined form.
    pub fn read(text: &str) -> Self {
        let blanks = text.bytes().enumerate().filter(|(_, byte)| *byte == b' ');
        let ends = blanks.map(|(place, _)| place).chain((!text.is_empty()).then_some(text.len()));
        let ends = ends.map(|end| u32::try_from(end).unwrap_or(u32::MAX)).collect();
        Self { text: text.to_owned(), ends }
    }

    /// The joined form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at a place.
    pub fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)? as usize;
        let start = match place.checked_sub(1) {
            None => 0,
            Some(before) => *self.ends.get(before)? as usize + 1,
        };
        self.text.get(start..end)
    }

    /// The place of a text, where they are in rising order.
    pub fn find(&self, wanted: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle)?.cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}
