#![no_main]
mod door;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| door::knock(bytes, "csv"));
