//! Listing and answering questions over gRPC.

use axum::extract::State;
use axum::http::HeaderMap;
use tonic::{Request, Response, Status};
use windlass_protocol::AnswerBody;

use super::permissions::path;
use super::proto::question_service_server::QuestionService;
use super::{proto, words};
use crate::api::Api;
use crate::error::ApiError;
use crate::extract::{JsonBody, QuestionHere};
use crate::{asks, proxy};

#[derive(Clone)]
pub(super) struct Questions(pub(super) Api);

#[tonic::async_trait]
impl QuestionService for Questions {
    async fn list_questions(
        &self,
        request: Request<proto::ListQuestionsRequest>,
    ) -> Result<Response<proto::ListQuestionsResponse>, Status> {
        let (metadata, _, wanted) = request.into_parts();
        let session = Some(wanted.session_id).filter(|session| !session.is_empty());
        let open = self
            .list(&metadata.into_headers(), session.as_deref())
            .await?;
        Ok(Response::new(proto::ListQuestionsResponse {
            questions: open,
        }))
    }

    async fn answer_question(
        &self,
        request: Request<proto::AnswerQuestionRequest>,
    ) -> Result<Response<proto::Empty>, Status> {
        let (metadata, _, request) = request.into_parts();
        self.answer(metadata.into_headers(), request).await?;
        Ok(Response::new(proto::Empty {}))
    }
}

impl Questions {
    async fn list(
        &self,
        headers: &HeaderMap,
        session: Option<&str>,
    ) -> Result<Vec<proto::Question>, ApiError> {
        let api = &self.0;
        let local = session.and_then(|session| api.sessions().get(session));
        let open = match (local, session) {
            (Some(session), _) => asks::questions_of(&session),
            (None, None) => asks::questions_everywhere(api, headers).await,
            (None, Some(id)) => {
                if proxy::owner(api, headers, id).await.is_none() {
                    return Err(ApiError::no_session(api.sessions(), id));
                }
                let all = asks::questions_everywhere(api, headers).await;
                let its = all.into_iter();
                its.filter(|open| open.session.as_str() == id).collect()
            }
        };
        let questions = open.into_iter();
        Ok(questions
            .map(|open| words::question(&open.session, open.ask))
            .collect())
    }

    async fn answer(
        &self,
        headers: HeaderMap,
        request: proto::AnswerQuestionRequest,
    ) -> Result<(), ApiError> {
        let answer = request.answer.unwrap_or_default();
        let value = words::read_value(answer).map_err(|error| ApiError::bad(error.to_string()))?;
        let body = AnswerBody { value };
        let ask = request.question_id;
        let api = &self.0;
        let session = Some(request.session_id).filter(|session| !session.is_empty());
        if let Some(session) = &session {
            if let Some(session) = api.sessions().get(session) {
                return asks::answer_at(&session, &ask, body);
            }
            let path = path(&["sessions", session, "questions", &ask])?;
            proxy::post_to_whoever_takes_it(api, &headers, &path, &body).await?;
        } else {
            let path = path(&["questions", &ask])?;
            let (api, ask, body) = (State(api.clone()), QuestionHere(ask), JsonBody(body));
            asks::answer_anywhere(api, headers, path, ask, body).await?;
        }
        Ok(())
    }
}
