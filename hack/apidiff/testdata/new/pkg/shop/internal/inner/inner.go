// Package inner is nobody's to import.
package inner
