#![no_main]
mod model_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| model_file::read_model(bytes));
