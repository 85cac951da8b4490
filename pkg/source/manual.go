package source

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A definition may name a data key of a ConfigMap that holds the manual of its kind. Only that
// value is read, when the manual is requested; so are health settings (ConfigMapValues). There is
// no such way to read a Secret.

// NoManualError reports why a declared manual cannot be returned.
type NoManualError struct {
	ConfigMap object.Ref
	// Message is for people.
	Message string
	// Absent is set if the ConfigMap does not exist in that namespace.
	Absent bool
	// Unread is set if its data could not be read: the text may exist.
	Unread bool
}

func (e *NoManualError) Error() string { return e.Message }

func noManual(ref object.Ref, absent bool, format string, args ...any) error {
	return &NoManualError{ConfigMap: ref, Absent: absent, Message: fmt.Sprintf(format, args...)}
}

func unreadManual(ref object.Ref, format string, args ...any) error {
	return &NoManualError{ConfigMap: ref, Unread: true, Message: fmt.Sprintf(format, args...)}
}

// Manual returns the value of a key of a ConfigMap. A server sends the whole ConfigMap; the rest is
// not decoded. The error is a *NoManualError, or that of the context or the connection.
func (c *Cluster) Manual(ctx context.Context, namespace, name, key string) (string, error) {
	data, err := c.configMap(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	raw, ok := data[key]
	if !ok {
		return "", noKey(object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}, key, slices.Sorted(maps.Keys(data)))
	}
	var text string
	err = json.Unmarshal(raw, &text)
	return text, err
}

// configMap returns the data of a ConfigMap without decoding the values.
func (c *Cluster) configMap(ctx context.Context, namespace, name string) (map[string]json.RawMessage, error) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}
	if !sendable(namespace) || !sendable(name) {
		return nil, noManual(ref, false, "%s is not a ConfigMap name", ref)
	}
	r := object.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	a, err := c.ask(ctx, pathOf(r, namespace, name), nil, jsonType)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case absent(err, name):
		return nil, noManual(ref, true, "there is no %s", ref)
	case err != nil:
		return nil, unreadManual(ref, "%s: %s", gap(r, namespace, err).Reason, say(err))
	}
	var m struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.body, &m); err != nil {
		return nil, noManual(ref, false, "%v", jsonError(err))
	}
	return m.Data, nil
}

// ConfigMapValues returns the values of a ConfigMap whose keys begin with a prefix, and decodes no
// others. The error is as for Manual.
func (c *Cluster) ConfigMapValues(ctx context.Context, namespace, name, prefix string) (map[string]string, error) {
	data, err := c.configMap(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for key, raw := range data {
		var text string
		if strings.HasPrefix(key, prefix) && json.Unmarshal(raw, &text) == nil {
			values[key] = text
		}
	}
	return values, nil
}

// Manual returns the value of a key of a ConfigMap, as Cluster.Manual does.
func (s *Snapshot) Manual(_ context.Context, namespace, name, key string) (string, error) {
	ref, data, err := s.configMap(namespace, name)
	if err != nil {
		return "", err
	}
	text, ok := data[key].(string)
	if !ok {
		return "", noKey(ref, key, slices.Sorted(maps.Keys(data)))
	}
	return text, nil
}

func (s *Snapshot) configMap(namespace, name string) (object.Ref, map[string]any, error) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}
	i := slices.IndexFunc(s.entries, func(e entry) bool { return e.ref == ref })
	if i < 0 {
		return ref, nil, noManual(ref, true, "the snapshot has no %s", ref)
	}
	data, ok := s.entries[i].body.Object["data"].(map[string]any)
	if !ok {
		return ref, nil, unreadManual(ref, "the snapshot has %s without its data, as snapshots that are passed on should", ref)
	}
	return ref, data, nil
}

// ConfigMapValues returns what Cluster.ConfigMapValues does.
func (s *Snapshot) ConfigMapValues(_ context.Context, namespace, name, prefix string) (map[string]string, error) {
	_, data, err := s.configMap(namespace, name)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for key, value := range data {
		if text, ok := value.(string); ok && strings.HasPrefix(key, prefix) {
			values[key] = text
		}
	}
	return values, nil
}

func noKey(ref object.Ref, key string, keys []string) error {
	const maxShown = 8
	has := "it has no data"
	if len(keys) > 0 {
		has = "it has " + strings.Join(keys[:min(maxShown, len(keys))], ", ")
	}
	return noManual(ref, false, "%s has no data key %q (%s)", ref, key, has)
}
