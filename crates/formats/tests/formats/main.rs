//! Tests of the public API of the crate.

#[cfg(test)]
mod common;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod extremes;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod matrix_market;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod public_data;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod serialized;
mod stream;
#[cfg(test)]
mod vertices;
#[cfg(test)]
mod writing;

#[global_allocator]
static ALLOCATOR: hedgerow_testing::allocation::CountingAllocator =
    hedgerow_testing::allocation::CountingAllocator;
