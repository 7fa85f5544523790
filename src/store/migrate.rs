//! Creates or upgrades the schema.

use sqlx::migrate::Migrator;

use super::{Store, StoreError};

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// What stands in the way of the schema this program needs.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no schema, or an older one.
    #[error("the database lacks the schema of this version ({missing} steps missing): run `folga migrate`")]
    Missing {
        /// How many migrations have not been applied.
        missing: usize,
    },
    /// A newer program has been here, or a migration was edited.
    #[error(
        "the database's schema step {0} is not the one this program knows: run the newer folga that made it"
    )]
    Unknown(i64),
}

/// Applies what is missing, all of it in one transaction: sqlx's own runner locks the session and names its
/// statements, which breaks behind a transaction pooler. Its table is kept, so its tools still work.
///
/// # Errors
/// See [`SchemaError`].
pub async fn run(store: &Store) -> Result<usize, SchemaError> {
    let mut tx = store.begin_write_apart().await?;
    sqlx::raw_sql(
        "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
            version bigint PRIMARY KEY,
            description text NOT NULL,
            installed_on timestamptz NOT NULL DEFAULT now(),
            success boolean NOT NULL,
            checksum bytea NOT NULL,
            execution_time bigint NOT NULL
        )",
    )
    .execute(&mut tx)
    .await?;
    let missing = missing(&applied(&mut tx).await?)?;
    for migration in &missing {
        sqlx::raw_sql(migration.sql.clone()).execute(&mut tx).await?;
        sqlx::query_scalar::<_, i64>(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES ($1, $2, true, $3, 0) RETURNING version",
        )
        .bind(migration.version)
        .bind(&*migration.description)
        .bind(&*migration.checksum)
        .fetch_one(&mut tx)
        .await?;
    }
    tx.commit().await?;
    Ok(missing.len())
}

/// Checks that the schema is the one this program needs.
///
/// # Errors
/// See [`SchemaError`].
pub async fn check(store: &Store) -> Result<(), SchemaError> {
    let mut tx = store.begin().await?;
    let exists = sqlx::query_scalar::<_, bool>("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut tx)
        .await?;
    let applied = if exists {
        applied(&mut tx).await?
    } else {
        Vec::new()
    };
    match missing(&applied)?.len() {
        0 => Ok(()),
        missing => Err(SchemaError::Missing { missing }),
    }
}

// The macros cannot check these: the table is not part of the schema they are checked against.
async fn applied(tx: &mut super::Tx) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
    sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations ORDER BY version")
        .fetch_all(&mut *tx)
        .await
}

fn missing(applied: &[(i64, Vec<u8>)]) -> Result<Vec<&'static sqlx::migrate::Migration>, SchemaError> {
    for (version, checksum) in applied {
        let known = MIGRATIONS.iter().find(|migration| migration.version == *version);
        if known.is_none_or(|migration| *migration.checksum != **checksum) {
            return Err(SchemaError::Unknown(*version));
        }
    }
    let done = |version| applied.iter().any(|(applied, _)| *applied == version);
    Ok(MIGRATIONS
        .iter()
        .filter(|migration| !done(migration.version))
        .collect())
}
