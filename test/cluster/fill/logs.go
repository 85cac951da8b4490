package fill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// played writes a log into a directory, as a container runtime does, and returns the object that
// makes it the log of every container: simulated pods have none of their own.
func played(dir string) (*unstructured.Unstructured, error) {
	var text strings.Builder
	begin := time.Now().UTC()
	for i, line := range []string{"starting", "listening on :8080", "warning: the container is played, and says this alone"} {
		fmt.Fprintf(&text, "%s stdout F %s\n", begin.Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano), line)
	}
	file := filepath.Join(dir, "container.log")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return nil, fmt.Errorf("write the log of the containers: %w", err)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterLogs",
		"metadata": map[string]any{"name": "played"},
		"spec":     map[string]any{"logs": []any{map[string]any{"logsFile": file, "follow": true}}},
	}}, nil
}
