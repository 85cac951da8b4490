package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestParseAudit(t *testing.T) {
	const line = `{"kind":"Event","stage":%q,"requestURI":"/api/v1/namespaces/a/secrets/s","verb":"get","user":{"username":"jane","groups":["team"]},` +
		`"userAgent":"kubectl","objectRef":{"resource":"secrets","namespace":"a","name":"s","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},` +
		`"responseObject":{"kind":"Secret","data":{"k":"dg=="}},"requestReceivedTimestamp":%q}` + "\n"
	log := fmt.Sprintf(line, "RequestReceived", "2026-01-01T00:00:02.000000Z") +
		fmt.Sprintf(line, "ResponseComplete", "2026-01-01T00:00:00.000000Z") +
		fmt.Sprintf(line, "ResponseComplete", "2026-01-01T00:00:02.000000Z") +
		`{"stage":"ResponseCom` // being written
	events, err := parseAudit(strings.NewReader(log), time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC))
	if err != nil || len(events) != 1 {
		t.Fatalf("events %+v, error %v, want the third line", events, err)
	}
	e := events[0]
	if e.User != "jane" || e.Verb != "get" || e.Code != 200 || e.Object != (AuditObject{"", "v1", "secrets", "a", "s", ""}) || !e.Data() {
		t.Errorf("event %+v", e)
	}
	if _, err := parseAudit(strings.NewReader("nonsense\n"), time.Time{}); err == nil {
		t.Error("nonsense is no error")
	}
}

func TestAuditEventData(t *testing.T) {
	for response, want := range map[string]bool{
		``:                                      false,
		`{"kind":"Secret","data":{"k":"v"}}`:    true,
		`{"kind":"Secret","data":{}}`:           false,
		`{"items":[{},{"data":{"k":"v"}}]}`:     true,
		`{"items":[{"binaryData":{"k":"v"}}]}`:  true,
		`{"items":[{"metadata":{"name":"x"}}]}`: false,
		`{"kind":"Table","rows":[{"object":{"data":{"k":"v"}}}]}`:         true,
		`{"kind":"Table","rows":[{"object":{"metadata":{}}}]}`:            false,
		`{"kind":"Status","status":"Failure","message":"data forbidden"}`: false,
	} {
		if got := (AuditEvent{Response: json.RawMessage(response)}).Data(); got != want {
			t.Errorf("%s: data %v", response, got)
		}
	}
}

func TestPortsAreFreeAndDifferent(t *testing.T) {
	chosen, err := ports(20)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range chosen {
		l, err := net.Listen("tcp", address(p)) // different, or the second would fail
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if p < firstPort || p > lastPort {
			t.Errorf("port %d is out of range", p)
		}
	}
}

func TestNamespacePrefix(t *testing.T) {
	for in, want := range map[string]string{"TestA/b_c": "testa-b-c-", strings.Repeat("x", 99): strings.Repeat("x", 57) + "-"} {
		if got := namespacePrefix(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []Options{{Nodes: 1}, {MetricsServer: true}, {Nodes: -1, Kwok: true}} {
		if o.validate() == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	for _, o := range []Options{{}, Full(), Workloads()} {
		if err := o.validate(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
