// llama.cpp's grammar engine behind standard input and output, for tests/gbnf/llama.py.
//
//   G<length>\n<grammar>  ->  read | refused       (why: on standard error)
//   T<length>\n<text>     ->  yes | no             whether the last grammar takes this text, whole
//   I<length>\n<tokens>   ->  yes | no             the same of tokens: for each its id, the size of its text, the text
//
// `make llama-checker` builds it from the sources inside the source distribution of llama-cpp-python.

#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"

#include <cstdarg>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

// What the engine takes from the rest of llama.cpp.  Without a vocabulary, none of it is more than a message.

void ggml_abort(const char * file, int line, const char * format, ...) {
    (void) file;
    (void) line;
    throw std::runtime_error(format);
}

void llama_log_internal(ggml_log_level, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const {
    throw std::runtime_error("there is no vocabulary");
}

namespace {

using Grammar = std::unique_ptr<llama_grammar, void (*)(llama_grammar *)>;

Grammar read(const std::string & text) {
    llama_grammar * found = nullptr;
    try {
        found = llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
    } catch (const std::exception & error) {
        std::cerr << error.what() << "\n";
    }
    return Grammar(found, llama_grammar_free_impl);
}

void accept_tokens(llama_grammar & grammar, const std::string & tokens) {
    std::istringstream rest(tokens);
    long id = 0;
    std::size_t size = 0;
    while (rest >> id >> size) {
        rest.get();
        std::string piece(size, '\0');
        rest.read(&piece[0], static_cast<std::streamsize>(size));
        llama_grammar_accept_token(grammar, static_cast<llama_token>(id), piece);
    }
}

bool takes(const llama_grammar & grammar, const std::string & text, bool is_tokens) {
    Grammar copy(llama_grammar_clone_impl(grammar), llama_grammar_free_impl);
    try {
        if (is_tokens) {
            accept_tokens(*copy, text);
        } else {
            llama_grammar_accept_str(*copy, text);
        }
    } catch (const std::exception &) {
        return false;
    }
    for (const auto & stack : copy->stacks) {
        if (stack.empty()) {
            return true;
        }
    }
    return false;
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    Grammar grammar(nullptr, llama_grammar_free_impl);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::string text(std::stoul(line.substr(1)), '\0');
        std::cin.read(&text[0], static_cast<std::streamsize>(text.size()));
        if (line[0] == 'G') {
            grammar = read(text);
            std::cout << (grammar ? "read" : "refused") << std::endl;
        } else {
            std::cout << (grammar && takes(*grammar, text, line[0] == 'I') ? "yes" : "no") << std::endl;
        }
    }
}
