package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A watch requests a timeout of 25 to 50 seconds, and continues from where it ended: an API server
// authorizes a watch only when it opens, so that a revoked permission shows within a minute. It
// also does not hang for longer. Slack is how late the server may be before the client ends it.
const (
	watchLeast = 25 * time.Second
	watchSlack = 30 * time.Second
)

// errNoEvents reports that a watch request returned something else: an API without watch sends its
// list.
var errNoEvents = errors.New("the response is not a stream of events")

// watching is an open watch.
type watching struct {
	resource object.Resource
	detail   Detail
	protobuf bool
	events   streaming.Decoder
	stop     context.CancelFunc
}

// change is one event of a watch.
type change struct {
	event   watch.EventType // Added, Modified, Deleted, or Bookmark
	object  object.Object   // for a bookmark, only its version
	version string
}

// watch opens a watch of a selection, from the version of its list on.
func (c *Cluster) watch(ctx context.Context, r object.Resource, ns string, part selection, version string, detail Detail) (*watching, failure) {
	life := watchLeast + rand.N(watchLeast)
	query := part.query()
	query.Set("watch", "true")
	query.Set("resourceVersion", version)
	query.Set("allowWatchBookmarks", "true")
	query.Set("timeoutSeconds", strconv.Itoa(int(life/time.Second)))
	ctx, stop := context.WithTimeout(ctx, life+watchSlack)
	resp, fail := c.stream(ctx, pathOf(r, ns, ""), query, accept(r, detail, false))
	if fail.err != nil {
		stop()
		return nil, fail
	}
	a := answer{contentType: resp.Header.Get("Content-Type")}
	w := &watching{resource: r, detail: detail, protobuf: protobuf(a), stop: stop}
	if err := w.streams(a); err != nil {
		_ = resp.Body.Close()
		stop()
		return nil, failure{connected: true, status: resp.StatusCode, err: err}
	}
	// apimachinery splits the frames; the content is decoded here, as that of lists is.
	framer := runtime.Framer(jsonserializer.Framer)
	if w.protobuf {
		framer = protobufserializer.LengthDelimitedFramer
	}
	w.events = streaming.NewDecoder(framer.NewFrameReader(resp.Body), eventDecoder{w.protobuf})
	return w, failure{}
}

// streams refuses a response that is no stream of events.
func (w *watching) streams(a answer) error {
	if !w.protobuf {
		return a.isJSON()
	}
	if !strings.Contains(a.contentType, "stream=watch") {
		return errNoEvents
	}
	return nil
}

func (w *watching) close() {
	w.stop()
	_ = w.events.Close()
}

// next returns the next event. The error is io.EOF if the server ended the watch, its error
// (IsResourceExpired) if it gave one, or errTruncated.
func (w *watching) next() (change, error) {
	var e metav1.WatchEvent
	if _, _, err := w.events.Decode(nil, &e); err != nil {
		switch {
		case errors.Is(err, io.EOF):
			return change{}, io.EOF
		case errors.Is(err, errNoEvents):
			return change{}, err
		}
		return change{}, fmt.Errorf("%w: %w", errTruncated, err)
	}
	kind := watch.EventType(e.Type)
	switch kind {
	case watch.Error:
		return change{}, statusError(e.Object.Raw)
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
	default:
		return change{}, errNoEvents
	}
	o, err := w.object(e.Object.Raw)
	if err != nil {
		return change{}, fmt.Errorf("read an event of %s: %w", w.resource, err)
	}
	return change{kind, o, o.Meta.GetResourceVersion()}, nil
}

func (w *watching) object(raw []byte) (object.Object, error) {
	a := answer{body: raw, contentType: jsonType}
	if w.protobuf {
		a.contentType = protobufType
	}
	return decodeOne(a, w.resource, w.detail)
}

// statusError decodes the error that a server sends as the last event of a watch.
func statusError(raw []byte) error {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return fmt.Errorf("%w: the server ends the watch without a reason", errTruncated)
	}
	return apierrors.FromObject(o)
}

// eventDecoder decodes the envelope of an event.
type eventDecoder struct{ protobuf bool }

// Decode implements runtime.Decoder.
func (d eventDecoder) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	e, ok := into.(*metav1.WatchEvent)
	if !ok {
		return nil, nil, errNoEvents
	}
	if d.protobuf {
		return e, nil, e.Unmarshal(data)
	}
	return e, nil, json.Unmarshal(data, e)
}
