//! Tests of the protocol over TCP.
