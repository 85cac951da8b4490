package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// auditLog is the name of the audit log among the logs.
const auditLog = "audit"

// auditLimit ends the wait for the audit log to catch up.
var auditLimit = timeout.Scaled(20 * time.Second)

// AuditEvent is an answered request, as the API server logged it. The log does not have the Accept
// header: a proxy's Requests do.
type AuditEvent struct {
	Time   time.Time // when the request came
	Verb   string    // get, list, watch, create, ...
	User   string
	Groups []string
	Agent  string // User-Agent header
	URI    string // path and query
	Object AuditObject
	Code   int // HTTP status of the answer
	// Response is the body of the response, in JSON whatever the client requested. Only responses
	// about Secrets and ConfigMaps to others than the cluster's own components have it.
	Response json.RawMessage
}

// AuditObject is the object of the request; for a list, Name is empty.
type AuditObject struct{ Group, Version, Resource, Namespace, Name, Subresource string }

// Data reports whether the response had the content of a Secret or a ConfigMap, in any of the API
// server's forms: an object, a list, a table. Metadata is no content. The events of a watch are not
// in the log: count a watch as data unless it requested metadata.
func (e AuditEvent) Data() bool {
	type content struct {
		Data       map[string]any `json:"data"`
		BinaryData map[string]any `json:"binaryData"`
	}
	has := func(c content) bool { return len(c.Data)+len(c.BinaryData) > 0 }
	var answer struct {
		content
		Items []content                  `json:"items"`
		Rows  []struct{ Object content } `json:"rows"`
	}
	if len(e.Response) == 0 || json.Unmarshal(e.Response, &answer) != nil {
		return false // no answer in the log, or none that is an object
	}
	found := has(answer.content)
	for _, item := range answer.Items {
		found = found || has(item)
	}
	for _, row := range answer.Rows {
		found = found || has(row.Object)
	}
	return found
}

// AuditEvents returns the answered requests since a time, in the order of the responses. The
// cluster must have Audit. It sends a request of its own and waits until that is in the log, so
// that earlier ones are too; a watch is in the log when it has ended.
func (c *Cluster) AuditEvents(since time.Time) ([]AuditEvent, error) {
	if !c.options.Audit {
		return nil, errors.New("read the audit log: the cluster was started without audit")
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditLimit)
	defer cancel()
	events, err := c.auditEvents(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return events, nil
}

func (c *Cluster) auditEvents(ctx context.Context, since time.Time) ([]AuditEvent, error) {
	log, err := os.Open(c.log(auditLog))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	marker := "/version?audit-marker=" + string(uuid.NewUUID())
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return nil, err
	}
	if err := answers(client, c.server+marker)(ctx); err != nil {
		return nil, err
	}
	var fresh []byte
	if err := await(ctx, func(context.Context) error {
		more, err := io.ReadAll(log)
		if fresh = append(fresh, more...); err == nil && !bytes.Contains(fresh, []byte(marker)) {
			err = errors.New("the log has not caught up")
		}
		return err
	}); err != nil {
		return nil, err
	}
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return parseAudit(log, since)
}

// receivedBefore says whether a line is of an earlier request: most are, and not worth parsing.
func receivedBefore(line []byte, since time.Time) bool {
	const key = `"requestReceivedTimestamp":"`
	_, text, found := bytes.Cut(line[max(0, bytes.LastIndex(line, []byte(key))):], []byte(key))
	text, _, _ = bytes.Cut(text, []byte(`"`))
	at, err := time.Parse(time.RFC3339, string(text))
	return found && err == nil && at.Before(since)
}

// parseAudit reads a log of a JSON object a line. A last line without its end
// is still being written, and left out.
func parseAudit(r io.Reader, since time.Time) ([]AuditEvent, error) {
	var events []AuditEvent
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		if receivedBefore(line, since) {
			continue
		}
		var e struct {
			Stage            string
			RequestURI, Verb string
			UserAgent        string
			User             struct {
				Username string
				Groups   []string
			}
			ObjectRef                struct{ Resource, Namespace, Name, APIGroup, APIVersion, Subresource string }
			ResponseStatus           struct{ Code int }
			RequestReceivedTimestamp time.Time
			ResponseObject           json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("parse an audit event: %w", err)
		}
		if e.Stage != "ResponseComplete" {
			continue
		}
		o := e.ObjectRef
		events = append(events, AuditEvent{
			Time: e.RequestReceivedTimestamp, Verb: e.Verb, User: e.User.Username, Groups: e.User.Groups, Agent: e.UserAgent,
			URI: e.RequestURI, Code: e.ResponseStatus.Code, Response: e.ResponseObject,
			Object: AuditObject{o.APIGroup, o.APIVersion, o.Resource, o.Namespace, o.Name, o.Subresource},
		})
	}
}
