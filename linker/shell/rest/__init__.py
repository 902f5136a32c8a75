"""REST v3 of links and mirror topics, on `rest.listener`: paths, fields and values of Confluent's Kafka REST API v3.

Every request becomes a request of the administration over gRPC (`linker.shell.admin_server`), so that the command line,
gRPC and REST are answered alike, by whichever broker coordinates the links.

- `schemas`: the bodies of requests and replies, made of `mirror_parts`; `errors`: refusals as replies of HTTP
- `admin_client`: asks the administration; `descriptions`: its replies as the resources of REST
- `link_routes`: `/links`; `link_config_routes`: `/links/{link}/configs`; `mirror_routes`: `/links/{link}/mirrors`;
  `mirror_change_routes`: the verbs that change mirrors, and `topic_names`: the topics that they name;
  `record_routes`: holes, decisions and destinations
- `app`: all of them, with the OpenAPI description; `request_limits`: how large and how slow a request may be
- `server`: serves the application in a node's event loop
"""
