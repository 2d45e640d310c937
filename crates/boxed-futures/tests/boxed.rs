//! Methods that `#[boxed]` changed are called as before, and return a box.

#![expect(unreachable_pub, reason = "the attribute boxes what is public")]

use std::cell::Cell;
use std::future::ready;
use std::sync::Arc;

use futures_util::FutureExt as _;
use refract_boxed_futures::boxed;

struct Shelf {
    books: Vec<String>,
}

struct Reader<'a> {
    shelf: &'a Shelf,
}

#[boxed]
impl Shelf {
    pub async fn find(&self, start: &str, fallback: &str) -> String {
        ready(()).await;
        let found = self.books.iter().find(|book| book.starts_with(start));
        found.map_or(fallback, String::as_str).to_owned()
    }

    pub async fn first(&self) -> Option<&str> {
        self.books.first().map(String::as_str)
    }

    pub async fn add(&mut self, book: impl Into<String>) {
        ready(()).await;
        self.books.push(book.into());
    }

    pub async fn count(self: Arc<Self>) -> Result<usize, ()> {
        if self.books.is_empty() {
            return Err(());
        }
        Ok(self.books.len())
    }

    pub async fn sort(&self, _permit: Arc<()>) {
        ready(()).await;
    }

    pub async fn new() -> Self {
        let books = vec!["Emma".to_owned(), "Ulysses".to_owned()];
        Self { books }
    }
}

#[boxed(local)]
impl Reader<'_> {
    pub async fn read(self, pages: &Cell<u32>) -> usize {
        pages.set(pages.get() + 1);
        ready(()).await;
        self.shelf.books.len()
    }
}

fn is_send(_: &impl Send) {}

#[test]
fn a_boxed_method_borrows_and_returns_as_before() {
    let mut shelf = Shelf::new().now_or_never().unwrap();
    shelf.add("Persuasion").now_or_never().unwrap();
    let owned = String::from("Per");
    assert_eq!(
        shelf.find(&owned, "none").now_or_never().unwrap(),
        "Persuasion"
    );
    assert_eq!(shelf.find("X", "none").now_or_never().unwrap(), "none");
    assert_eq!(shelf.first().now_or_never().unwrap(), Some("Emma"));
    let pages = Cell::new(0);
    assert_eq!(
        Reader { shelf: &shelf }
            .read(&pages)
            .now_or_never()
            .unwrap(),
        3
    );
    assert_eq!(pages.get(), 1);
    assert_eq!(Arc::new(shelf).count().now_or_never().unwrap(), Ok(3));
    let empty = Shelf { books: Vec::new() };
    assert_eq!(Arc::new(empty).count().now_or_never().unwrap(), Err(()));
}

#[test]
fn a_boxed_future_is_a_pointer_and_can_be_sent() {
    let shelf = Shelf::new().now_or_never().unwrap();
    let future = shelf.find("Emma", "none");
    is_send(&future);
    assert_eq!(size_of_val(&future), 2 * size_of::<usize>());
    let pages = Cell::new(0);
    let local = Reader { shelf: &shelf }.read(&pages);
    assert_eq!(size_of_val(&local), 2 * size_of::<usize>());
}

#[test]
fn an_argument_that_is_not_read_lasts_as_long_as_the_future() {
    let shelf = Shelf::new().now_or_never().unwrap();
    let permit = Arc::new(());
    let sorting = shelf.sort(Arc::clone(&permit));
    assert_eq!(Arc::strong_count(&permit), 2);
    sorting.now_or_never().unwrap();
    assert_eq!(Arc::strong_count(&permit), 1);
}
