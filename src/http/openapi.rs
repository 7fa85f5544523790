//! `/openapi.json`: the routes for machines, made of the routes' own annotations and types.

use utoipa::{
    OpenApi as _, ToSchema,
    openapi::{
        Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement,
        path::{Operation, PathItem},
        schema::Schema,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

/// The content type of [`ProblemView`].
pub(super) const PROBLEM: &str = "application/problem+json";

/// Why a request is not answered as it was meant to be (RFC 9457).
#[derive(serde::Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemView {
    /// The kind of problem.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// The status in words.
    pub(super) title: &'static str,
    /// The status.
    pub(super) status: u16,
    /// What is wrong, and the remedy.
    pub(super) detail: String,
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "folga",
        description = "What rate limits were measured against, and which values to promote."
    ),
    components(schemas(ProblemView))
)]
struct Described;

/// What there is to say before any route.
pub(super) fn begin() -> OpenApi {
    Described::openapi()
}

/// Adds what holds for all routes that want the token.
pub(super) fn guarded(mut document: OpenApi) -> OpenApi {
    for path in document.paths.paths.values_mut() {
        for operation in operations(path) {
            operation.security = Some(
                ["bearer", "cookie"]
                    .map(|scheme| SecurityRequirement::new::<_, [&str; 0], &str>(scheme, []))
                    .to_vec(),
            );
            for (status, why) in [
                ("401", "The token is missing or wrong"),
                ("500", "Something failed inside"),
                (
                    "503",
                    "The database can't be reached, or the answer takes too long",
                ),
            ] {
                let problem = RefOr::T(problem(why));
                operation.responses.responses.insert(status.to_owned(), problem);
            }
        }
    }
    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let cookie = ApiKey::Cookie(ApiKeyValue::new("folga"));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
    document
}

/// Adds what holds for all types: every field is always there, and null where absent.
pub(super) fn finished(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_default();
    for (name, schema) in &mut components.schemas {
        if let RefOr::T(Schema::Object(object)) = schema
            && name != "Health"
        {
            object.required = object.properties.keys().cloned().collect();
        }
    }
    document
}

fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    path.get.iter_mut()
}

fn problem(why: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new()
        .description(why)
        .content(PROBLEM, content)
        .build()
}
