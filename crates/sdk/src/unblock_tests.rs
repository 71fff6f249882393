use futures_lite::future::block_on;

use super::*;

#[test]
fn the_result_of_the_work_comes_back() {
    let here = thread::current().id();
    let there = block_on(unblock(move || thread::current().id()));
    assert_ne!(here, there);
}

#[test]
#[should_panic(expected = "it broke")]
fn a_panic_is_passed_on() {
    block_on(unblock(|| panic!("it broke")));
}
