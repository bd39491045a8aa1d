/* The whole interface for C++17: objects that own what they are made of, errors as exceptions, every function of the C
 * headers in the namespace mw without its prefix. Written by tools/cpp_header.py; not to be edited.
 *
 *     mw::graph graph = mw::graph::create();
 *     mw::tensor x = mw::input(graph, "x", MW_F32, MW_SHAPE(4, 2)), y = mw::input(graph, "y", MW_I32, MW_SHAPE(4));
 *     mw::tensor logits = mw::dense(mw::tanh(mw::dense(x, 8, "fc1")), 2, "fc2");
 *     mw_trainer_options options = mw::trainer::defaults(mw::cross_entropy(logits, y), mw::adam(0.05f));
 *     mw::trainer trainer = mw::trainer::create(&options);
 *     trainer.save_weights("net.safetensors");     // throws mw::error, whose what() is the library's message
 *
 * What mw_graph_create makes is a mw::graph: moved, never copied, and destroyed once. mw_graph_check is a member of it,
 * and what makes one is a static member. It is a `mw_graph *` wherever C wants one, so that both interfaces mix;
 * release() gives it away. Where C gives an object by a pointer to a pointer, mw::out(object) takes it.
 *
 * A mw::tensor is a `mw_tensor *` with operators. As in C it is its graph's, and must not be used when that is gone. A
 * constructor of tensors throws nothing: the graph keeps the first error, which check() and whatever compiles it throw.
 * Structs, enums and macros are those of C. Functions that the library calls back must not throw.
 *
 * Programs link with the libraries whose functions they call, as in C; nothing of this is compiled elsewhere. */
#ifndef MILLWRIGHT_MILLWRIGHT_HPP
#define MILLWRIGHT_MILLWRIGHT_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <millwright/communicator.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <millwright/text.h>
#include <millwright/view.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mw {

/** A call that failed. */
class error : public std::runtime_error {
public:
    explicit error(const mw_error &err) : std::runtime_error(err.message), it_(err) {}
    mw_status status() const noexcept { return it_.status; }
    /** What it is about; "" = nothing in particular. */
    const char *operation() const noexcept { return it_.operation; }
    const char *tensor() const noexcept { return it_.tensor; }
    /** All that C says. */
    const mw_error &get() const noexcept { return it_; }

private:
    mw_error it_;
};

/** An object of the library that is destroyed once. */
template <class T, void (*destroy)(T *)> class handle {
public:
    handle() noexcept = default;
    /** Takes an object over. */
    explicit handle(T *it) noexcept : it_(it) {}
    handle(handle &&other) noexcept : it_(other.release()) {}
    handle &operator=(handle &&other) noexcept
    {
        reset(other.release());
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() { reset(); }

    T *get() noexcept { return it_; }
    const T *get() const noexcept { return it_; }
    operator T *() noexcept { return it_; }
    operator const T *() const noexcept { return it_; }
    /** Gives the object to the caller, who destroys it. */
    T *release() noexcept { return std::exchange(it_, nullptr); }
    /** Destroys the object, and takes over another. */
    void reset(T *it = nullptr) noexcept
    {
        T *const old = std::exchange(it_, it);
        if (old != nullptr && old != it)
            destroy(old);
    }

private:
    T *it_ = nullptr;
};

/** Where C leaves an object: mw::table_encoder::fit(&options, mw::out(training), mw::out(validation)). */
template <class T, void (*destroy)(T *)> class out_handle {
public:
    explicit out_handle(handle<T, destroy> &to) noexcept : to_(to) {}
    out_handle(const out_handle &) = delete;
    out_handle &operator=(const out_handle &) = delete;
    ~out_handle() { to_.reset(it_); }
    operator T **() noexcept { return &it_; }

private:
    handle<T, destroy> &to_;
    T *it_ = nullptr;
};

template <class T, void (*destroy)(T *)> out_handle<T, destroy> out(handle<T, destroy> &to) noexcept
{
    return out_handle<T, destroy>(to);
}

/** Text with a zero at its end; what it was made of must live until the call returns. */
class zstring {
public:
    zstring(const char *text) noexcept : text_(text) {}
    zstring(const std::string &text) noexcept : text_(text.c_str()) {}
    operator const char *() const noexcept { return text_; }

private:
    const char *text_;
};

/** A value of a graph, which owns it. */
class tensor {
public:
    tensor() noexcept = default;
    tensor(mw_tensor *it) noexcept : it_(it) {}
    operator mw_tensor *() const noexcept { return it_; }
    mw_tensor *get() const noexcept { return it_; }

private:
    mw_tensor *it_ = nullptr;
};

/** Several of them: {a, b}, or a vector. */
class tensor_list {
public:
    tensor_list(std::initializer_list<tensor> items) : items_(items.begin(), items.end()) {}
    tensor_list(const std::vector<tensor> &items) : items_(items.begin(), items.end()) {}
    mw_tensor *const *data() const noexcept { return items_.data(); }
    std::size_t size() const noexcept { return items_.size(); }

private:
    std::vector<mw_tensor *> items_;
};

namespace detail {

struct call {
    mw_error it = {};
    void check() const
    {
        if (it.status != MW_OK)
            throw error(it);
    }
};

inline std::string taken(char *text)
{
    std::string made;
    try {
        made = text != nullptr ? text : "";
    } catch (...) {
        mw_string_free(text);
        throw;
    }
    mw_string_free(text);
    return made;
}

inline std::size_t count(const tensor_list &list) noexcept { return list.size(); }

/* Lists that belong together have one length. */
inline std::size_t count(const tensor_list &list, const tensor_list &other)
{
    if (list.size() != other.size())
        throw std::invalid_argument("two lists of tensors differ in length");
    return list.size();
}

inline std::vector<tensor> tensors_of(const std::vector<mw_tensor *> &made)
{
    return std::vector<tensor>(made.begin(), made.end());
}

} // namespace detail

inline tensor operator+(tensor a, tensor b) { return mw_add(a, b); }
inline tensor operator-(tensor a, tensor b) { return mw_sub(a, b); }
inline tensor operator*(tensor a, tensor b) { return mw_mul(a, b); }
inline tensor operator/(tensor a, tensor b) { return mw_real_div(a, b); }
inline tensor operator+(tensor a, double b) { return mw_add_scalar(a, b); }
inline tensor operator+(double a, tensor b) { return mw_add_scalar(b, a); }
inline tensor operator-(tensor a, double b) { return mw_add_scalar(a, -b); }
inline tensor operator*(tensor a, double b) { return mw_mul_scalar(a, b); }
inline tensor operator*(double a, tensor b) { return mw_mul_scalar(b, a); }
inline tensor operator-(tensor a) { return mw_mul_scalar(a, -1.0); }

/* ---- objects ---- */
