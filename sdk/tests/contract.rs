//! The SDK carries its own copy of the contract, so that it also builds outside this repository.

use std::fs;
use std::path::Path;

#[test]
fn the_copy_of_the_contract_is_exact() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let released = here.join("../wit/v0.1");
    if !released.exists() {
        return; // a published crate: there is nothing to compare with
    }
    let names = |folder: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&released), names(&here.join("wit")), "wit/v0.1 and sdk/wit hold other files");
    for name in names(&released) {
        let same = fs::read(released.join(&name)).unwrap()
            == fs::read(here.join("wit").join(&name)).unwrap();
        assert!(
            same,
            "wit/v0.1/{0} and sdk/wit/{0} differ: copy the first over the second",
            name.display()
        );
    }
}
