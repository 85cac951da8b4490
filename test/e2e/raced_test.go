//go:build race

package e2e

// raced says that the plugin is built with the race detector, as these tests are.
const raced = true
