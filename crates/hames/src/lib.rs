//! Hames for embedders: the loop, the providers and the tools behind one name.
