package storage

// Refused makes the archive's error for a failed write.
var Refused = refused
