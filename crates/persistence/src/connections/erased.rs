//! Queries, futures and outcomes without their own types, so that what runs them is compiled once for
//! all with the same rows or outcome. Compiled for each, it was a quarter of this crate's code.

use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;

use diesel::backend::Backend;
use diesel::query_builder::{AsQuery, AstPass, Query, QueryFragment, QueryId};
use diesel::{QueryResult, RunQueryDsl};

use crate::error::PersistenceError;

/// What a task returns, of whatever type.
pub(crate) type TaskOutcome = Box<dyn Any + Send>;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a connection or a transaction is for. Without the query's own type, so that what leads to it is
/// compiled once for each `T`.
pub(crate) type Work<C, T> =
    Box<dyn FnOnce(C) -> BoxFuture<'static, Result<T, PersistenceError>> + Send>;

pub(crate) fn any_work<C, T, F>(work: impl FnOnce(C) -> F + Send + 'static) -> Work<C, T>
where
    F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
{
    Box::new(|connection| Box::pin(work(connection)))
}

/// A query for a database, whose rows have the SQL type `S`. A connection keeps it prepared under
/// its text, which is written for each run: a query of the hot path keeps its own type.
pub(crate) struct AnyQuery<D: Backend, S> {
    query: Box<dyn QueryFragment<D> + Send>,
    rows: PhantomData<fn() -> S>,
}

impl<D: Backend> AnyQuery<D, ()> {
    /// A statement without rows.
    pub(crate) fn change(query: impl QueryFragment<D> + Send + 'static) -> Self {
        Self {
            query: Box::new(query),
            rows: PhantomData,
        }
    }
}

impl<D: Backend, S> AnyQuery<D, S> {
    /// A query of rows.
    pub(crate) fn of_rows<Q>(query: Q) -> Self
    where
        Q: AsQuery<SqlType = S, Query: QueryFragment<D> + Send + 'static>,
    {
        Self {
            query: Box::new(query.as_query()),
            rows: PhantomData,
        }
    }
}

impl<D: Backend, S> QueryFragment<D> for AnyQuery<D, S> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        self.query.walk_ast(pass)
    }
}

impl<D: Backend, S> QueryId for AnyQuery<D, S> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<D: Backend, S> Query for AnyQuery<D, S> {
    type SqlType = S;
}

impl<D: Backend, S, C> RunQueryDsl<C> for AnyQuery<D, S> {}
