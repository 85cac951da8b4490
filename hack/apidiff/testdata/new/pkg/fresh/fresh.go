// Package fresh comes.
package fresh
