"""PutDocuments (key 10003)."""

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.requests.conversion import (
    Conversion,
    Versions,
    unless_error,
    versions_from_wire,
    versions_to_wire,
    with_error,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    PutDocument,
    PutDocumentsRequest,
    PutDocumentsResponse,
)

ANY_VERSION = -1  # any version


def _request(command: PutDocuments) -> PutDocumentsRequest:
    return PutDocumentsRequest(
        documents=[
            PutDocument(
                kind=item.kind,
                name=item.name,
                body=item.body,
                expected_version=(
                    ANY_VERSION if item.expected_version is None else item.expected_version
                ),
                unless_writer=item.unless_writer,
                partition_epochs=list(item.partition_epochs),
            )
            for item in command.items
        ]
    )


def _command(request: PutDocumentsRequest) -> PutDocuments:
    return PutDocuments(tuple(map(_change, request.documents)))


def _change(document: PutDocument) -> DocumentChange:
    version = document.expected_version
    if version < ANY_VERSION:
        raise Refusal(KafkaError.INVALID_REQUEST, f"a document cannot be at version {version}")
    return DocumentChange(
        kind=document.kind,
        name=document.name,
        body=document.body,
        expected_version=None if version == ANY_VERSION else version,
        unless_writer=document.unless_writer,
        partition_epochs=tuple(document.partition_epochs),
    )


def _response(versions: Versions) -> PutDocumentsResponse:
    return PutDocumentsResponse(versions=versions_to_wire(versions))


def _result(response: PutDocumentsResponse) -> Versions:
    return versions_from_wire(response.versions)


PUT_DOCUMENTS = Conversion(
    api_key=ApiKey.PUT_DOCUMENTS,
    command=PutDocuments,
    to_request=_request,
    to_command=_command,
    to_response=with_error(PutDocumentsResponse, _response),
    to_result=unless_error(_result),
)
