mod corpus;
mod properties;
mod refused;
