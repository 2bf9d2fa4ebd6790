//! Trends: the posts with the most of the last likes.
//!
//! The likes are counted in a sliding window: one is added for each like that enters, and one is
//! subtracted for each that leaves, so that an update costs as much as the likes that are new.
//!
//! `cargo run --release -p hedgerow --example trending`

use hedgerow::prelude::*;
use hedgerow::{Span, SubscribeOptions};
use std::cmp::Reverse;
use std::collections::HashMap;

const POSTS: u64 = 100;
const USERS: u64 = 1_000_000;
const LIKES_PER_HOUR: u64 = 3_000;

fn main() -> Result<(), Error> {
    let graph = Graph::in_memory(GraphOptions::new().label::<()>("likes"))?;
    let likes = graph.label::<()>("likes")?;
    let options = SubscribeOptions::new().label(likes);
    // `Span::time` counts the likes of the last minutes instead.
    let mut window = graph.subscribe(&options)?.sliding(Span::edges(5_000));

    let mut counts = HashMap::<Key, u64>::new();
    for hour in 0..8 {
        graph.put_each(likes, &likes_of(hour))?;
        while window.advance()? {
            for like in window.entered() {
                *counts.entry(like.destination().to_key()).or_default() += 1;
            }
            for like in window.left() {
                *counts.entry(like.destination().to_key()).or_default() -= 1;
            }
            counts.retain(|_, count| *count > 0);
        }
        let mut trending: Vec<_> = counts.iter().collect();
        trending.sort_by_key(|(post, count)| (Reverse(**count), (*post).clone()));
        println!("hour {hour}: {:?}", &trending[..3]);
        assert_eq!(*trending[0].0, hour % POSTS, "the post of the hour");
    }
    Ok(())
}

/// Returns the likes of an hour, in which one post is as popular as all others together.
fn likes_of(hour: u64) -> Vec<(u64, u64)> {
    let mut random = hour + 1;
    let like = |number| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let post = if number % 2 == 0 { hour } else { (random >> 33) % POSTS };
        (POSTS + (random >> 13) % USERS, post)
    };
    (0..LIKES_PER_HOUR).map(like).collect()
}
