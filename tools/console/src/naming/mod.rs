//! Page of names: contexts as a tree, the bindings of one of them, the contents of their
//! references, and their liveness.
//!
//! | path | |
//! |---|---|
//! | `GET /naming?in=NAME&from=COMPONENT&show=COMPONENT` | the context of that name, its bindings from a component on, and the target of one of them |
//! | `GET /naming/live?in=NAME&from=COMPONENT` | `changed`, each time that some of that has changed |
//! | `POST /naming/bind`, `/naming/context`, `/naming/unbind` | changes, if the peer has permission |

mod change;
mod names;
mod state;
mod stream;
mod tree;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use punctual::Orb;
use punctual_naming::{Directory, Observer};

use crate::answers::Answers;
use crate::ends::ConnectionAddresses;
use crate::layout;
use crate::live::Live;
use crate::page::{Mounted, Page};
use crate::shell::Shell;

use names::Selection;
use state::NamingPage;
use view::{PATH, PageState};

/// Console page of a naming service.
#[derive(Clone, Debug)]
pub struct Naming {
    /// Directory of the naming service that the page shows.
    pub directory: Directory,
    /// ORB that asks bound objects whether they exist.
    pub orb: Orb,
    /// True if objects are asked whether they exist. As a peer chooses the references that it
    /// binds, the process then connects to any address that a reference contains.
    pub asks: bool,
}

impl Page for Naming {
    fn name(&self) -> &'static str {
        "Names"
    }

    fn path(&self) -> &'static str {
        PATH
    }

    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted {
        let Naming {
            directory,
            orb,
            asks,
        } = *self;
        let live = Arc::<Live>::default();
        let observer: Arc<dyn Observer> = live.clone();
        directory.observe(&observer);
        let (answers, queue) = Answers::new(orb.clone(), asks, shell.limits, live.clone());
        let answers = Arc::new(answers);
        let page = Arc::new(NamingPage {
            shell,
            directory,
            orb,
            answers: answers.clone(),
            live,
        });
        Mounted {
            routes: routes().with_state(page),
            tasks: vec![Box::pin(queue.ask(answers))],
        }
    }
}

fn routes() -> Router<Arc<NamingPage>> {
    Router::new()
        .route("/naming", get(show))
        .route("/naming/live", get(stream::live))
        .route("/naming/bind", post(change::bind))
        .route("/naming/context", post(change::new_context))
        .route("/naming/unbind", post(change::unbind))
}

async fn show(
    State(page): State<Arc<NamingPage>>,
    Extension(ends): Extension<ConnectionAddresses>,
    Query(place): Query<Selection>,
) -> Response {
    let look = PageState::at(&page, &place, ends.peer.ip());
    layout::page(look.status(), &look.page(&page))
}
