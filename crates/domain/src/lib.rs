//! The nouns and rules of Refract: prisms, lenses, answers, results. Pure.
