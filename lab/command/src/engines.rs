//! The engines that can be measured.

use hedgerow::EngineKind;
use hedgerow_driver::{ENGINES, Engine};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_rapid::Rapid;
use hedgerow_tel::Tel;

/// `rapid` behind virtual calls, like research engines, to measure the cost of the calls.
static ERASED_RAPID: NamedEngine = NamedEngine {
    name: "rapid-erased",
    make: Make::InMemory(|options| ErasedEngine::new(Rapid::new(options))),
};

/// `tel` behind virtual calls.
static ERASED_TEL: NamedEngine =
    NamedEngine { name: "tel-erased", make: Make::InMemory(|options| ErasedEngine::new(Tel::new(options))) };

/// The engines of `hedgerow bench`, and the research engines.
pub fn all() -> Vec<Engine> {
    let research = [
        (
            &hedgerow_lab_engines::ADJACENCY_LIST,
            "a sorted array per vertex with a version per edge and short locks (the study's AdjLst)",
        ),
        (
            &hedgerow_lab_engines::FINE_GRAINED_ART,
            "RapidStore's ablation: a plain radix tree per vertex, a version per edge (ART)",
        ),
        (&hedgerow_lab_engines::ART, "RapidStore's ablation: a plain radix tree per vertex (ART + SC)"),
        (
            &hedgerow_lab_engines::COMPRESSED_ART,
            "RapidStore's ablation: a compressed tree per vertex (C-ART + SC)",
        ),
        (
            &hedgerow_lab_engines::VECTOR_ART,
            "RapidStore's ablation: compressed trees, vectors for small sets",
        ),
        (&hedgerow_lab_engines::CLUSTERED_ART, "RapidStore whole: compressed trees, a clustered index"),
        (&ERASED_RAPID, "rapid, but behind virtual calls as engines of research are"),
        (&ERASED_TEL, "tel, but behind virtual calls"),
    ];
    let research = research.map(|(engine, description)| Engine {
        name: engine.name,
        description,
        kind: Some(EngineKind::Erased(engine)),
    });
    ENGINES.iter().copied().chain(research).collect()
}
