// A schema's words, texts and symbols. White space and comments are Barrelfish's: `//` to the end
// of the line, and `/* */`, which nest. Texts have its escapes.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/language/tokenizer.h"

namespace sojourn::schema_language {

using language::Token;

// Returns the next token. A text that is no token of a schema is an error.
Result<Token> next_token(language::Tokenizer& tokenizer);
language::Tokenizer tokenizer_of(const language::SourceText& schema);

// A token's name in an error, always printable and short.
std::string describe(const Token& token);

}  // namespace sojourn::schema_language
