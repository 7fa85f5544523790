//! Transactions whose statements have no names.

use futures_util::{future::BoxFuture, stream::BoxStream};
use sqlx::{
    Describe, Either, Execute, Executor, Postgres, SqlStr, Transaction,
    error::BoxDynError,
    postgres::{PgArguments, PgQueryResult, PgRow, PgStatement, PgTypeInfo},
};

use super::StoreError;

/// A transaction. The library names the statements of its checked macros and never closes them where it keeps none:
/// behind a transaction pooler another client may have left the same name on the connection, and without one they
/// would pile up. Here every statement goes without a name.
#[derive(Debug)]
pub struct Tx(Transaction<'static, Postgres>);

impl Tx {
    pub(super) const fn new(transaction: Transaction<'static, Postgres>) -> Self {
        Self(transaction)
    }

    /// Makes what was written last.
    ///
    /// # Errors
    /// The database failed; whether it was written may be unknown.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.0.commit().await
    }

    /// Ends it without a trace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn rollback(self) -> Result<(), StoreError> {
        self.0.rollback().await
    }
}

impl<'c> Executor<'c> for &'c mut Tx {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, StoreError>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        self.0.fetch_many(Unnamed(query))
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, StoreError>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        self.0.fetch_optional(Unnamed(query))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, StoreError>>
    where
        'c: 'e,
    {
        self.0.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, StoreError>>
    where
        'c: 'e,
    {
        self.0.describe(sql)
    }
}

/// A query like another, but without a name.
struct Unnamed<E>(E);

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Unnamed<E> {
    fn sql(self) -> SqlStr {
        self.0.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.0.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.0.take_arguments()
    }

    fn persistent(&self) -> bool {
        false
    }
}
