// Package model plays cases on the modelled kernel: it is the player.Target
// that boots a machine with the device a case asks for and makes the system
// calls of a modelled process.
package model
