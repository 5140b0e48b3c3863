// A schema's words, texts and symbols. White space and comments are Barrelfish's: `//` to the end
// of the line, and `/* */`, which nest. Texts have its escapes.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/language/tokenizer.h"

namespace sojourn::schema_language {

using language::Token;

// The next token; what is none of a schema's is an error.
Result<Token> next_token(language::Tokenizer& tokenizer);
language::Tokenizer tokenizer_of(const language::SourceText& schema);

// A token as an error names it; printable and short, whatever it was.
std::string describe(const Token& token);

}  // namespace sojourn::schema_language
