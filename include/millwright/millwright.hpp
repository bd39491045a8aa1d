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

class chip_report;
class communicator;
class comparison;
class coreml;
class dataset;
class graph;
class loader;
class metrics;
class model;
class plan;
class predictor;
class program;
class ranges;
class scores;
class summary;
class table_encoder;
class tensors;
class text_data;
class text_model;
class token_stream;
class tokenizer;
class trainer;

class chip_report : public handle<mw_chip_report, mw_chip_report_destroy> {
public:
    using handle::handle;

    /** Holds a program to the rules of a chip and gives all that is found at once. */
    static chip_report create(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options = nullptr);
    /** What the report came to. */
    mw_chip_report_info get_info() const;
    /** Finding `index`, in the order of the program's operations, then of its ports; it lives as long as the
     *  report; NULL beyond the last. */
    const mw_chip_finding *finding_at(size_t index) const;
    /** The report as text, a paragraph for each finding; freed with mw_string_free. */
    std::string print() const;
};

class communicator : public handle<mw_communicator, mw_communicator_destroy> {
public:
    using handle::handle;

    /** A communicator over a transport, which is copied. */
    static communicator create(const mw_transport *transport, const mw_allocator *allocator = nullptr);
    /** Waits for all ranks, and frees the communicator in any case; as mw_communicator_destroy if the error is
     *  set. */
    void finish();
    /** How long a call waits for a rank that does not send or take anything, in seconds; 30 at first. */
    void set_timeout(double seconds);
    /** Returns when all ranks have called it. */
    void barrier();
    /** `size` bytes of rank `root` to all. */
    void broadcast(int root, void *data, size_t size);
    /** out: [ranks][size], the record of each, on every rank. */
    void gather(const void *record, size_t size, void *out);
    /** data[i] becomes the sum over all ranks, ((rank 0 + rank 1) + rank 2) + ..., each addition rounded to the
     *  type: the same bits on all ranks and in every run. */
    void allreduce(void *data, size_t count, mw_dtype dtype);
    /** Tells all ranks that this one fails: what they wait for ends with "rank 2: <reason>". */
    void fail(zstring reason);
    /** Ends the processes of all ranks by the transport; returns where that cannot. */
    void abort(int code);
    /** Where this rank stands. */
    mw_communicator_info get_info() const;
};

class comparison : public handle<mw_comparison, mw_comparison_destroy> {
public:
    using handle::handle;

    /** Runs the program on both sides and compares all that the operations give which its outputs need. */
    static comparison create(const mw_graph *graph, const mw_compare_options *options = nullptr);
    /** What the comparison came to. */
    mw_comparison_info get_info() const;
    /** Result `index` in the order of the operations, which lives as long as the comparison; NULL beyond the
     *  last. */
    const mw_compared *at(size_t index) const;
    /** The comparison as text, a line for each result; freed with mw_string_free. */
    std::string print() const;
    /** Writes what the inputs were fed as a safetensors file, for batch_path. */
    void save_batch(zstring path) const;
};

class coreml : public handle<mw_coreml, mw_coreml_destroy> {
public:
    using handle::handle;

    /** Reads a package or a compiled model. */
    static coreml open(zstring path, const mw_graph_options *options = nullptr);
    /** The program, with its weights; lives as long as the model. */
    const mw_graph *graph() const;
    /** What the model is. */
    mw_coreml_info get_info() const;
    /** Part `index`, in the order in which the pipeline runs them: a model of its own, which belongs to `model`. */
    const mw_coreml *part(size_t index) const;
};

class dataset : public handle<mw_dataset, mw_dataset_destroy> {
public:
    using handle::handle;

    /** Wraps arrays in memory; copied if `copy`, else they must outlive the data set. */
    static dataset create(const mw_column *columns, size_t column_count, int64_t examples, bool copy);
    /** A data set whose examples a function makes. */
    static dataset create_callback(const mw_column *columns, size_t column_count, int64_t examples,
                                   mw_dataset_function *function, void *user);
    /** Number of examples, 0 for NULL. */
    int64_t examples() const;
    /** Column by index, NULL past the last; lives as long as the data set. */
    const mw_column *column_at(size_t index) const;
    /** The classes of a column by its name; none if it has none. */
    mw_classes classes(zstring column) const;
    /** Deals the examples of `source` out at random: part i has counts[i] of them, in the order they were dealt,
     *  and no two parts share one. */
    void split(const int64_t *counts, size_t part_count, uint64_t seed, mw_dataset **out_parts) const;
    /** A data set of the same examples, in batches that a thread makes ahead. */
    dataset prefetch(int batches) const;
    /** The same by several threads, each of which makes a whole batch; the bits stay the same. */
    dataset prefetch_threads(int batches, int threads) const;
    /** A data set of the same examples, in batches of one length each: an example fills the first rows of its
     *  columns, and the rest is padding. */
    dataset bucket(const int64_t *lengths, const int64_t *limits, size_t limit_count) const;
    /** The examples of `source` with these numbers, in this order; a number may come more than once. */
    dataset subset(const int64_t *examples, int64_t count) const;
    /** The part of `source` that one of `ranks` machines trains on: examples rank, rank + ranks, .., the same
     *  number for each, so that the last ones may be left out. */
    dataset shard(int rank, int ranks) const;
    /** The examples of sources[0], then those of sources[1], and so on. */
    static dataset concatenate(const mw_dataset *const *sources, size_t source_count);
    /** `count` examples of `source`, each drawn by the weights, again and again the same one if its weight says
     *  so, and others in each epoch: example k with probability weights[k] / (sum of all), as PyTorch's
     *  WeightedRandomSampler has it. */
    dataset sample(const double *weights, int64_t count, uint64_t seed) const;
    /** Two parts of `source`, out_parts[0] without the share and out_parts[1] the share, each in the order of the
     *  source: round(s n) of n examples. */
    void divide(const mw_divide_options *options, mw_dataset **out_parts) const;
    /** Example i of all parts side by side: the columns of part 0, then those of part 1, and so on, each example
     *  in the same epoch. */
    static dataset zip(const mw_zip_part *parts, size_t part_count);
    /** The examples of `source`, each changed by a function whenever it is served. */
    dataset map(const mw_column *columns, size_t column_count, mw_map_function *function, void *user,
                uint64_t seed) const;
    /** Images cropped, moved, mirrored, turned, changed in their colors and painted over at random, as a map;
     *  other columns pass unchanged. */
    dataset augment(const mw_augment_options *options = nullptr) const;
    /** Pictures mixed with others of the set, as torchvision's MixUp and CutMix; labels become F32 [classes], as
     *  mw_cross_entropy takes probabilities. */
    dataset mix(const mw_mix_options *options = nullptr) const;
    /** y = (x * scale + offset - mean[c]) / deviation[c] of channel c, as F32, in double and rounded once:
     *  pictures as a model has learned them. */
    dataset normalize(const mw_normalize_options *options = nullptr) const;
    /** Windows of a series in time: the examples of `source` are its rows, in order. */
    dataset window(const mw_window_options *options = nullptr) const;
    /** Opens <folder>/<prefix>-images-idx3-ubyte and <prefix>-labels-idx1-ubyte (also with .gz, where zlib is
     *  built in) as columns "x" (U8, [28, 28] or what the file says, scale 1/255) and "y" (U8). */
    static dataset open_idx(zstring folder, zstring prefix);
    /** Opens a CSV file. */
    static dataset open_csv(zstring path, const mw_table_options *options = nullptr);
    /** Opens a file of JSON objects, one a line; other keys are ignored, empty lines and a byte order mark
     *  skipped. */
    static dataset open_jsonl(zstring path, const mw_table_options *options = nullptr);
    /** Opens tensors as a data set: those of a .npz, of several .npy, of any file that mw_tensors_open takes. */
    static dataset open_tensors(zstring path, const mw_tensor_column *columns, size_t column_count);
    /** Opens a folder that has a folder for each class, with PNG (.png), JPEG (.jpg, .jpeg) and WebP (.webp)
     *  files, or whose pictures a table lists. */
    static dataset open_images(zstring folder, const mw_image_options *options = nullptr);
    /** Opens pictures by their paths: the column "x" alone, as mw_dataset_open_images has it, in the order of the
     *  paths. */
    static dataset open_image_files(const char *const *paths, size_t count, const mw_image_options *options = nullptr);
    /** Opens a folder that has a folder for each class, with WAV (.wav) and FLAC (.flac) files, or whose sounds a
     *  table lists. */
    static dataset open_sounds(zstring folder, const mw_sound_options *options = nullptr);
    /** Opens sounds by their paths: the column "x" alone, as mw_dataset_open_sounds has it, in the order of the
     *  paths. */
    static dataset open_sound_files(const char *const *paths, size_t count, const mw_sound_options *options = nullptr);
    /** The examples of `source`, moved, then louder or softer, then with noise. */
    dataset change_sounds(const mw_sound_change_options *options = nullptr) const;
};

class graph : public handle<mw_graph, mw_graph_destroy> {
public:
    using handle::handle;

    /** A copy of "main" for one example (mw_graph_rebatch), with an image for an input, and `classify` behind its
     *  scores; other inputs and results stay. */
    graph for_app(const mw_app_options *options = nullptr) const;
    /** Writes "main", or the only function, as SVG, whole or not at all. */
    void write_svg(zstring path, const mw_draw_options *options = nullptr) const;
    /** Writes the drawing in Graphviz' language, as mw_graph_write_svg does in SVG. */
    void write_dot(zstring path, const mw_draw_options *options = nullptr) const;
    /** The SVG as a string. */
    std::string print_svg(const mw_draw_options *options = nullptr) const;
    /** Name of function `index`, in the order of the text; NULL past the last. */
    const char *function_at(size_t index) const;
    /** The operator set of "main", or of the only function; 0 for NULL, and where there is neither. */
    mw_opset opset() const;
    /** A copy of one function, as "main" of a graph of its own: to be compiled, trained or written. */
    graph function(zstring name) const;
    /** Fills *out with what an input of "main" admits. */
    void admitted_shapes(zstring input, mw_admitted_shapes *out) const;
    /** Shape `index` of the list of an input. */
    void listed_shape(zstring input, size_t index, mw_shape *out) const;
    /** A copy of "main" for one shape of each input. */
    graph specialize(const mw_input_shape *shapes, size_t count) const;
    /** A copy of "main" for another number of examples: a program that was trained or exported at batch 128
     *  becomes one of batch 1, or 512. */
    graph rebatch(int64_t examples) const;
    /** A copy in which states are those of MIL (`state<tensor<fp16, ..>>`), as Core ML keeps them between
     *  predictions: each is read where the function begins and, if it is assigned (mw_state_assign), written
     *  where it ends, which coremltools calls coreml_update_state. */
    graph stateful() const;
    /** Returns the default options. */
    static mw_graph_options defaults();
    /** Returns an empty graph with one function, "main". */
    static graph create(const mw_graph_options *options = nullptr);
    /** Reports the first error of any constructor, MW_OK if there was none. */
    void check() const;
    /** Returns a new graph with the outputs of `graph` as they are computed after training: batch norm with its
     *  running statistics, dropout as the identity, noise as MIL's random_* without a seed. */
    graph evaluation() const;
    /** Returns a copy of "main" without blocks and lists, as gradients need it. */
    graph flatten() const;
    /** Finds an input, parameter, result or named tensor of "main"; NULL if there is none. */
    tensor find(zstring name) const;
    /** Returns the graph as text for people: one line an operation, with shapes and parameter counts. */
    std::string print() const;
    /** Reads a model.mil and the weight files beside it. */
    static graph open_mil(zstring path, const mw_graph_options *options = nullptr);
    /** Parses MIL text in memory. */
    static graph parse_mil(zstring text, size_t size, zstring folder, const mw_graph_options *options = nullptr);
    /** Checks every operation against the table: arguments, types, shapes. */
    void verify() const;
    /** The text alone; blobs are printed as references. */
    std::string print_mil(const mw_write_options *options = nullptr) const;
    /** Reads an ONNX file. */
    static graph open_onnx(zstring path, const mw_onnx_options *options = nullptr);
    /** Lists the weights of "main", those in branches and loops too, the largest first. */
    void weights(mw_weight *out_weights, size_t capacity, size_t *out_count) const;
    /** Input `index` of "main" that the host feeds (no parameter, no state), in the order of the text; NULL past
     *  the last. */
    tensor input_at(size_t index) const;
    /** Result `index` of "main"; NULL past the last. */
    tensor output_at(size_t index) const;
    /** A copy of "main" in which the matching constants are parameters of the same name that start with their
     *  values. */
    graph trainable(const mw_tune_options *options = nullptr) const;
    /** A copy of "main" in which every matching weight W stands for W + alpha / r B A, with parameters A and B. */
    graph lora(const mw_lora_options *options = nullptr) const;
    /** A copy of "main" whose weights have the values of the file: the constants that mw_graph_weights shows with
     *  a role, what parameters and states start with. */
    graph load_weights(zstring path, const mw_weights_options *options = nullptr) const;
    /** A copy of "main" (or the only function) with its constants compressed. */
    graph compress(const mw_compress_options *options = nullptr) const;
    /** Writes a graph. */
    void write(zstring path, const mw_write_options *options = nullptr) const;
};

class loader : public handle<mw_loader, mw_loader_destroy> {
public:
    using handle::handle;

    /** Returns the default options. */
    static mw_loader_options defaults(const mw_dataset *dataset, int64_t batch);
    /** A loader that keeps its data set alive. */
    static loader create(const mw_loader_options *options = nullptr);
    /** The next batch, valid until the next call. */
    const mw_batch *next();
    /** The number of batches in an epoch. */
    int64_t batches() const;
    /** Where the loader stands. */
    mw_loader_position tell() const;
    /** Puts the loader to a position: the next batch is the one that followed it. */
    void seek(mw_loader_position position);
};

class metrics : public handle<mw_metrics, mw_metrics_destroy> {
public:
    using handle::handle;

    /** Returns the default options: a new file, of the format that its path ends in. */
    static mw_metrics_options defaults();
    /** Makes a stream; folders on the way are made. */
    static metrics create(zstring path, const mw_metrics_options *options = nullptr);
    /** Appends one record. */
    void write(zstring kind, int64_t step, const mw_metrics_field *fields, size_t count);
};

class model : public handle<mw_model, mw_model_destroy> {
public:
    using handle::handle;

    /** Returns the default options. */
    static mw_model_options defaults();
    /** Reads a model: a Core ML package (.mlpackage) or compiled model (.mlmodelc), MIL text or a folder with
     *  model.mil, an ONNX file, or a netplist (.espresso.net); a folder is known by what is in it. */
    static model open(zstring path, const mw_model_options *options = nullptr);
    /** Makes a model of a graph, which is copied, as mw_model_open does of a file. */
    static model create(const mw_graph *graph, const mw_model_options *options = nullptr);
    /** What the model is. */
    mw_model_info get_info() const;
    /** Fills *out with port `index`, the inputs that are fed first, then the results: types and shapes of a run
     *  of `batch` examples. */
    bool port_at(size_t index, mw_port *out) const;
    /** The shape of a result of so many examples, as mw_predictor_predict fills it: the axis that belongs to the
     *  examples has them all, wherever it stands. */
    void result_shape(zstring result, int64_t examples, mw_shape *out) const;
    /** The labels of a result, as mw_program_classes. */
    void classes(zstring result, mw_classes *out) const;
    /** Writes the program of the model, with its own batch (mw_graph_write). */
    void write(zstring path, const mw_write_options *options = nullptr) const;
    /** Predicts as a predictor would that is made for this call: the bits are those of mw_predictor_predict, a
     *  program with states begins with their first values, and several threads may call it at once. */
    void predict(const mw_batch *batch, const mw_result *results, size_t result_count);
};

class plan : public handle<mw_plan, mw_plan_destroy> {
public:
    using handle::handle;

    /** The plan of a program. */
    static plan create(mw_program *program);
    /** The plan of a program of a trainer. */
    static plan create_trainer(mw_trainer *trainer, mw_trainer_part part);
    /** The sizes, numbers and times of the whole plan. */
    mw_plan_totals get_totals() const;
    /** Fills *out_step for index < step_count, in the order in which steps run; false otherwise. */
    bool step_at(size_t index, mw_plan_step *out_step) const;
    /** Fills *out_buffer for index < buffer_count; false otherwise. */
    bool buffer_at(size_t index, mw_plan_buffer *out_buffer) const;
    /** The plan as text: totals, steps, implementations, buffers. */
    void print(mw_plan_line *line, void *user) const;
    /** Writes the text of the plan into a file, whole or not at all. */
    void write(zstring path) const;
    /** The runs that were kept as Chrome trace JSON, for Perfetto (ui.perfetto.dev) or chrome://tracing: a track
     *  for the runs and one for each partition, a slice for each share of a step. */
    void write_trace(zstring path) const;
};

class predictor : public handle<mw_predictor, mw_predictor_destroy> {
public:
    using handle::handle;

    /** A predictor, with buffers and states of its own; it keeps the model alive. */
    static predictor create(mw_model *model);
    /** Predicts `batch->examples` examples, at least 1, in runs of the model's batch (mw_model_info). */
    void predict(const mw_batch *batch, const mw_result *results, size_t result_count);
    /** Other shapes for inputs with `?` extents; those that are not named keep theirs. */
    void set_shapes(const mw_input_shape *shapes, size_t count);
    /** Gives every state of the program its first value again. */
    void reset();
    /** Reads a state, or replaces it, under the rule of mw_program_read and mw_program_write. */
    void read(zstring state, mw_dtype dtype, void *out_data, size_t count);
    /** Reads a state, or replaces it, under the rule of mw_program_read and mw_program_write. */
    void write(zstring state, mw_dtype dtype, const void *data, size_t count);
};

class program : public handle<mw_program, mw_program_destroy> {
public:
    using handle::handle;

    /** Keeps the times of the newest `runs` runs from now on, at most 2^20; 0 switches it off. */
    void profile(size_t runs);
    /** Compiles the outputs of the graph (mw_output). */
    static program create(const mw_graph *graph, const mw_compile_options *options = nullptr);
    /** Chooses shapes of inputs, all that are named in one call; the others keep theirs. */
    void set_shapes(const mw_input_shape *shapes, size_t count);
    /** Copies host data into an input port, converting from `dtype` to the port's type. */
    void write(zstring port, mw_dtype dtype, const void *data, size_t count);
    /** Copies a port's elements to the host, converted to `dtype` under the same rule; not to U32 or U64. */
    void read(zstring port, mw_dtype dtype, void *out_data, size_t count);
    /** The port's own memory, in the type that mw_program_port_at reports; valid until the program is destroyed
     *  or takes another plan. */
    void *view(zstring port);
    /** Gives parameters new values: all of them, or after an error none. */
    void set_weights(const mw_weight_values *values, size_t count);
    /** Runs once, and returns when the outputs are written. */
    void run();
    /** Makes the output port write into the buffer of the input port, so that it is the next run's input. */
    void alias(zstring output, zstring input);
    /** Fills *out_port with port `index`, inputs first, then outputs; false past the last (port_count of
     *  mw_program_get_info). */
    bool port_at(size_t index, mw_port *out_port) const;
    /** The labels of a port of a classifier: of the values that its label can have, or of the elements of its
     *  probabilities. */
    void classes(zstring port, mw_classes *out) const;
    /** Reads what the last run predicted. */
    void label(zstring port, mw_label *out);
    /** Fills *out_warning with warning `index`; false past the last (warning_count of mw_program_get_info). */
    bool warning_at(size_t index, mw_warning *out_warning) const;
    /** What the program is now. */
    mw_program_info get_info() const;
    /** Fills *out with the place of operation `index` of the text, without constants; false past the last, and
     *  while shapes are to be chosen. */
    bool placement_at(size_t index, mw_placement *out) const;
    /** Reads weights into a program, as mw_trainer_load_weights into a trainer. */
    void load_weights(zstring path, const mw_weights_options *options = nullptr);
};

class ranges : public handle<mw_ranges, mw_ranges_destroy> {
public:
    using handle::handle;

    /** Runs the graph in fp32 and measures its values. */
    static ranges create(const mw_graph *graph, const mw_range_options *options = nullptr);
    /** A report of the trainer's next step on a batch, as mw_ranges_create makes one of a graph. */
    static ranges create_trainer(mw_trainer *trainer, const mw_batch *batch);
    /** What the report came to. */
    mw_ranges_info get_info() const;
    /** Value `index`, inputs first, then in the order of the operations; it lives as long as the report; NULL
     *  beyond the last. */
    const mw_range *at(size_t index) const;
    /** The values from the worst on: most elements that overflow or are not finite, then most that are lost, then
     *  least headroom. */
    const mw_range *worst_at(size_t place) const;
    /** The counts of products, from the worst on: most results that overflow, then the largest share of results
     *  that become 0, then of products that vanish. */
    const mw_range_product *product_at(size_t place) const;
    /** The report as text, in lines of at most 120 bytes: a summary, what can be done, the same of products if
     *  they were counted, with a line for each operation that has some, and a line for each value, the worst
     *  first; long names are cut. */
    std::string print() const;
};

class scores : public handle<mw_scores, mw_scores_destroy> {
public:
    using handle::handle;

    /** Makes sums without examples. */
    static scores create(mw_score_task task, int64_t columns, zstring names);
    /** Adds examples. */
    void add(const mw_score_batch *batch);
    /** Adds a text. */
    void add_text(zstring reference, zstring text);
    /** The number of figures; 0 for NULL. */
    size_t count() const;
    /** A figure of all that was added, in the order of the names; one without a name if there is no such. */
    mw_score get(size_t index) const;
};

class summary : public handle<mw_summary, mw_summary_destroy> {
public:
    using handle::handle;

    /** The layers of "main", or of the only function. */
    static summary create(const mw_graph *graph);
    /** Number of layers, those of kind "input" among them; 0 for NULL. */
    size_t count() const;
    /** Layer `index`: inputs first, then each behind what it reads. */
    const mw_summary_layer *at(size_t index) const;
    /** The parameters, bytes and work of all layers. */
    mw_summary_totals get_totals() const;
    /** The summary as a table for people: a line for each layer, and the totals. */
    std::string print() const;
};

class table_encoder : public handle<mw_table_encoder, mw_table_encoder_destroy> {
public:
    using handle::handle;

    /** Fits an encoder on the training part of a table and encodes both parts: columns "x" [width] F32 and "y". */
    static table_encoder fit(const mw_table_fit_options *options, mw_dataset **out_training,
                             mw_dataset **out_validation);
    /** Encodes another file with the same fields, in any order; further ones are ignored. */
    dataset open(zstring path, const mw_table_form *form = nullptr) const;
    /** "x" alone of a file, whatever stands under the target; of windows also those whose rows to predict are not
     *  there yet, the last ones of each series. */
    dataset open_inputs(zstring path, const mw_table_form *form = nullptr) const;
    /** Numbers of a row of x; 0 for NULL. */
    int64_t width() const;
    /** A field in the order of the file, the target left out. */
    bool field_at(size_t index, mw_encoded_field *out) const;
    /** The target, the first of several. */
    mw_encoded_target target() const;
    /** Each of the targets, in the order of y. */
    bool target_at(size_t index, mw_encoded_target *out) const;
    /** The windows that examples are; length 0: a row is one. */
    mw_table_window window() const;
    /** h = [scaled numbers, words as one-hot or as learned numbers], as the table above has it. */
    tensor layer(tensor x, zstring name) const;
    /** Values of the target in its own unit: mean + deviation y, its exponential if the target is a logarithm; y
     *  itself for classes and labels. */
    tensor unscale(tensor y) const;
    /** A line for each field: name, kind, what is missing and fills it, its numbers or words. */
    std::string print() const;
    /** All of it as JSON, from which mw_table_encoder_read makes the same again: `mw train` keeps it in the
     *  model, under "mw.table". */
    std::string write() const;
    /** An encoder with the same fields and the classes of another file: for a model that gets a new last layer. */
    table_encoder retarget(zstring path, const mw_table_form *form = nullptr) const;
    /** Reads what mw_table_encoder_write wrote. */
    static table_encoder read(zstring text);
    /** Reads a table with the fields of the encoder, in any order; further ones are ignored. */
    void stream(const mw_table_stream_options *options = nullptr) const;
};

class tensors : public handle<mw_tensors, mw_tensors_destroy> {
public:
    using handle::handle;

    /** Opens a file (of shards: the index), or a folder that holds model.safetensors.index.json or
     *  model.safetensors. */
    static tensors open(zstring path);
    /** What it is; the string lives as long as the object. */
    mw_tensors_info get_info() const;
    /** Tensor by index, in the order of the file; NULL if out of range. */
    const mw_tensor_info *at(size_t index) const;
    /** Tensor by name; NULL if there is none. */
    const mw_tensor_info *find(zstring name) const;
    /** What the file says of itself, by index; NULL past the last. */
    const mw_tensors_note *note_at(size_t index) const;
    /** The value of a key; NULL if there is none. */
    const char *note_find(zstring key) const;
    /** Reads an array of the file's header; its memory lives as long as the object, and stays within the bytes
     *  that it has in the file, and 8 for each string. */
    void read_array(zstring key, mw_tensors_array *out);
    /** What the file has besides, and is not read: its name as a tensor would have it, and why. */
    const mw_tensors_note *left_out_at(size_t index) const;
    /** Reads a tensor: dense, row-major, converted to `dtype` under the rule of mw_program_write: a number is
     *  rounded once, an integer stays what it is, and what does not fit is refused. */
    void read(zstring name, mw_dtype dtype, void *out, size_t count);
    /** A constant of a graph with the elements of a tensor. */
    tensor constant(zstring name, mw_dtype dtype, mw_graph *graph);
    /** Writes a whole file, durably or not at all, in the format of its name: ".safetensors" (with a checksum of
     *  ours), ".npz" (stored, as numpy.savez), ".npy" (one tensor; its name is not written). */
    static void write(zstring path, const mw_tensor_values *tensors, size_t count);
    /** Writes all tensors of an open file into another, in the formats of mw_tensors_write. */
    void convert(zstring path, mw_dtype dtype);
    /** Writes the mean of the tensors of several files, as of weights that were trained apart: sums in double
     *  precision in the order of the files, rounded once to fp32. */
    static void average(const char *const *paths, size_t count, zstring path);
};

class text_data : public handle<mw_text_data, mw_text_data_destroy> {
public:
    using handle::handle;

    static mw_text_data_options defaults();
    /** Opens texts for training. */
    static text_data open(zstring path, zstring folder, const mw_text_data_options *options = nullptr);
    /** Columns "tokens" and "labels", I32 [tokens], with buckets the tokens of the longest example: a label is
     *  the token that follows, or -100, which no loss counts. */
    const mw_dataset *training() const;
    /** Columns "tokens" and "labels", I32 [tokens], with buckets the tokens of the longest example: a label is
     *  the token that follows, or -100, which no loss counts. */
    const mw_dataset *validation() const;
    /** Zeros for NULL. */
    mw_text_data_info get_info();
    /** Writes the tokens of texts as one file of raw numbers, 16 bits each if the vocabulary fits, else 32. */
    static void write(const char *const *paths, size_t count, zstring folder, zstring out,
                      const mw_text_data_options *options, mw_text_data_info *out_info);
};

class text_model : public handle<mw_text_model, mw_text_model_destroy> {
public:
    using handle::handle;

    /** A network with new parameters (normal, 0.02), under the names of its family's files. */
    static mw_text_model_options defaults();
    /** Opens a folder with config.json, weights (model.safetensors or shards with their index) and a tokenizer; a
     *  .gguf; or a .bin of llama2.c or llm.c that stands beside its tokenizer. */
    static text_model open(zstring folder, const mw_text_model_options *options = nullptr);
    /** Its configuration and its tokenizer; they live as long as the model. */
    const mw_text_config *get_config() const;
    /** Its configuration and its tokenizer; they live as long as the model. */
    const mw_tokenizer *get_tokenizer() const;
    /** Goes on with a text until a token ends it, or as the options say. */
    std::string generate(zstring prompt, const mw_generate_options *options = nullptr);
    /** Goes on with several texts at a time, each as mw_text_model_generate goes on with it alone: the weights
     *  are read once for all of them. */
    void generate_each(const char *const *prompts, size_t count, const mw_generate_options *options, char **out_texts);
    /** A vector for each text, by an encoder: of vectors of length 1 the sum of products says how near two texts
     *  are, in [-1, 1]. */
    void embed(const char *const *texts, size_t count, const mw_embed_options *options, float *out);
};

class token_stream : public handle<mw_token_stream, mw_token_stream_destroy> {
public:
    using handle::handle;

    /** The tokenizer must outlive it. */
    static token_stream create(const mw_tokenizer *tokenizer);
    /** What the token adds to the text, NUL-terminated; "" while a character is incomplete. */
    const char *push(int32_t id);
    /** What is left at the end: an incomplete character, as the bytes it has. */
    const char *finish();
};

class tokenizer : public handle<mw_tokenizer, mw_tokenizer_destroy> {
public:
    using handle::handle;

    /** Opens a file, or a folder that holds tokenizer.json, vocab.json and merges.txt, tokenizer.model,
     *  vocab.txt, tokenizer.bin or tokenizer.gguf: they are looked for in this order. */
    static tokenizer open(zstring path);
    /** What it is; strings live as long as the tokenizer. */
    mw_tokenizer_info get_info() const;
    /** The number of a token by its text as files spell it ("<s>", "Ġthe" by its bytes, " the"); -1 if none. */
    int32_t id(zstring text) const;
    /** The bytes of a token, with a NUL behind them; NULL if there is none of that number. */
    const char *text(int32_t id, size_t *size) const;
    /** Whether a token is a special one ("</s>"), which decoding leaves out. */
    bool is_special(int32_t id) const;
    /** Cuts a text into tokens. */
    void encode(zstring text, size_t size, const mw_encode_options *options, mw_tokens *out) const;
    /** The text of tokens. */
    std::string decode(const int32_t *ids, size_t count, bool keep_special, size_t *out_size) const;
    /** What is left at the end: an incomplete character, as the bytes it has. */
    static mw_tokenizer_train_options train_defaults();
    /** Learns byte pairs from a text and writes them as tokenizer.json, whole or not at all. */
    static void train(zstring text, size_t size, const mw_tokenizer_train_options *options, zstring path);
};

class trainer : public handle<mw_trainer, mw_trainer_destroy> {
public:
    using handle::handle;

    /** The comparison of the trainer's first step (options.watch.compare), whether it passed or not; NULL before
     *  the first step. */
    const mw_comparison *comparison() const;
    /** Loss and metrics over a data set, on the current parameters, in the evaluation form: batch norm with its
     *  running statistics, dropout as the identity, noise from the current state of its generator. */
    void evaluate(const mw_dataset *dataset, const mw_confusion *confusion, mw_evaluation *out);
    /** Writes a record of the kind "log" to the metrics files of the mw_trainer_fit that runs on this trainer. */
    void log(const mw_metrics_field *fields, size_t count);
    /** Trains for whole epochs. */
    void fit(const mw_fit_options *options = nullptr);
    /** Writes what a trainer has learned as a model (mw_graph_write). */
    void export_(const mw_graph *source, zstring path, const mw_write_options *options = nullptr);
    /** Keeps the times of one program of a trainer, as mw_program_profile. */
    void profile(mw_trainer_part part, size_t runs);
    /** Builds and compiles the step program. */
    static trainer create(const mw_trainer_options *options = nullptr);
    /** One step: copies the batch, runs, reads the loss. */
    void step(const mw_batch *batch, float *out_loss);
    /** Runs one step for each batch. */
    void step_many(const mw_batch *batches, size_t count, float *out_losses);
    /** Sets the learning rate of the next steps, 0 or more. */
    void set_learning_rate(float learning_rate);
    /** Whether the moving averages of the parameters take the place of the parameters wherever these are read:
     *  evaluation, prediction, written weights, exported models, and programs (also models of text) that are made
     *  with share.trainer from then on. */
    void use_averages(bool use);
    /** The classes of a column that the trainer has learned: those that this column of the training data of the
     *  last mw_trainer_fit has; none if it has none. */
    mw_classes classes(zstring column) const;
    /** Runs the prediction on one batch, in the evaluation form. */
    void predict(const mw_batch *batch, mw_dtype dtype, void *out_data, size_t count);
    /** Reads or replaces one parameter or state (name as given to mw_parameter or mw_state), converting from or
     *  to `dtype` under the rule of mw_program_read and mw_program_write; what is written must be finite. */
    void read(zstring parameter, mw_dtype dtype, void *out_data, size_t count);
    /** Reads or replaces one parameter or state (name as given to mw_parameter or mw_state), converting from or
     *  to `dtype` under the rule of mw_program_read and mw_program_write; what is written must be finite. */
    void write(zstring parameter, mw_dtype dtype, const void *data, size_t count);
    /** Where the trainer stands now. */
    mw_trainer_info get_info() const;
    /** Fills *out_warning with warning `index` about the step program; false past the last. */
    bool warning_at(size_t index, mw_warning *out_warning) const;
    /** The step program: its MIL text, ports (parameters and optimizer state are aliased input and output) and
     *  device. */
    mw_program *program() const;
    /** Writes parameters, states, optimizer state, step, learning rate and the loader position to a safetensors
     *  file. */
    void save(zstring path, const mw_loader_position *position);
    /** Restores what mw_trainer_save wrote. */
    void load(zstring path, mw_loader_position *out_position);
    /** Returns options with everything else at its default. */
    static mw_trainer_options defaults(tensor loss, mw_optimizer optimizer);
    /** Fills *out_watched with watched value `index`; false past the last (watch_count of mw_trainer_get_info). */
    bool watch_at(size_t index, mw_watched *out_watched) const;
    /** Copies the elements of a value that MW_WATCH_VALUES watches, converted to `dtype` as by mw_program_read. */
    void watch_values(size_t index, mw_dtype dtype, void *out_data, size_t count);
    /** Parameters and the states that evaluation reads (running statistics, as in PyTorch's state dict), by their
     *  names, as safetensors: F32 or F16 as the device holds them. */
    void save_weights(zstring path);
    /** Writes the adapters, and what was trained beside them, as PEFT does: folder/adapter_model.safetensors with
     *  names such as "base_model.model.fc1.lora_A.weight", and folder/adapter_config.json. */
    void save_lora(zstring folder);
    /** Reads parameters, frozen weights and the states that evaluation reads from any file that mw_tensors_open
     *  takes. */
    void load_weights(zstring path, const mw_weights_options *options = nullptr);
};

/* ---- functions ---- */

/** Returns the default options: nothing changes. */
inline mw_app_options app_defaults() { return mw_app_defaults(); }
/** The image as a feature of a description (mw_function_description); its strings are those of the options. */
inline mw_feature app_image_feature(const mw_app_options *options = nullptr) { return mw_app_image_feature(options); }
/** out_dx[i] = d loss / d x[i]. */
inline std::vector<tensor> grad(tensor loss, const tensor_list &x)
{
    detail::call err;
    std::vector<mw_tensor *> made(x.size());
    mw_grad(loss, x.data(), detail::count(x), made.data(), &err.it);
    err.check();
    return detail::tensors_of(made);
}
/** The general form: dx[i] = sum over r of (d root[r] / d x[i])^T seed[r]. */
inline std::vector<tensor> backward(const mw_pullback *pullback, const tensor_list &x)
{
    detail::call err;
    std::vector<mw_tensor *> made(x.size());
    mw_backward(pullback, x.data(), detail::count(x), made.data(), &err.it);
    err.check();
    return detail::tensors_of(made);
}
/** out_dx[i] = sum over r of u[r] J[r][i]: the pullback, reverse mode. */
inline std::vector<tensor> vjp(const tensor_list &y, const tensor_list &u, const tensor_list &x)
{
    detail::call err;
    std::vector<mw_tensor *> made(x.size());
    mw_vjp(y.data(), u.data(), detail::count(y, u), x.data(), detail::count(x), made.data(), &err.it);
    err.check();
    return detail::tensors_of(made);
}
/** out_dy[r] = sum over i of J[r][i] v[i]: the pushforward, forward mode. */
inline std::vector<tensor> jvp(const tensor_list &y, const tensor_list &x, const tensor_list &v)
{
    detail::call err;
    std::vector<mw_tensor *> made(y.size());
    mw_jvp(y.data(), detail::count(y), x.data(), v.data(), detail::count(x, v), made.data(), &err.it);
    err.check();
    return detail::tensors_of(made);
}
/** out_hv[i] = sum over j of (d^2 loss / d x[i] d x[j]) v[j]: the Hessian of a scalar times a vector, over
 *  several x. */
inline std::vector<tensor> hvp(tensor loss, const tensor_list &x, const tensor_list &v)
{
    detail::call err;
    std::vector<mw_tensor *> made(x.size());
    mw_hvp(loss, x.data(), v.data(), detail::count(x, v), made.data(), &err.it);
    err.check();
    return detail::tensors_of(made);
}
/** Returns y, and marks the operations between `inputs` and y as a segment. */
inline tensor recompute(tensor y, const tensor_list &inputs)
{
    return mw_recompute(y, inputs.data(), detail::count(inputs));
}
/** y with a gradient of one's own: rule(inputs, y, dy) instead of what the operations between inputs and y have. */
inline tensor custom_vjp(zstring name, tensor y, const tensor_list &inputs, mw_custom_vjp_rule *rule, void *user)
{
    return mw_custom_vjp(name, y, inputs.data(), detail::count(inputs), rule, user);
}
/** out_y[r][b] = y[r] of function(x[0][b], x[1], ..), for all b at once: vmap. */
inline void vmap(mw_vmap_function *function, void *user, const tensor_list &x, const bool *mapped, mw_tensor **out_y,
                 size_t y_count)
{
    detail::call err;
    mw_vmap(function, user, x.data(), mapped, detail::count(x), out_y, y_count, &err.it);
    err.check();
}
/** Returns the default options. */
inline mw_chip_check_options chip_check_defaults() { return mw_chip_check_defaults(); }
/** "h13" of MW_CHIP_H13, "any" of MW_CHIP_AUTO; NULL for a chip that there is not. */
inline const char *chip_name(mw_chip chip) { return mw_chip_name(chip); }
/** The chip of a name that people or Apple's compiler use, in any case: "m4", "a16", "h16", "h16g"; "any" is
 *  MW_CHIP_AUTO. */
inline bool chip_from_name(zstring name, mw_chip *out) { return mw_chip_from_name(name, out); }
/** Returns a transport with everything but its functions. */
inline mw_transport transport_defaults(zstring name, int rank, int size)
{
    return mw_transport_defaults(name, rank, size);
}
/** Returns the default options. */
inline mw_compare_options compare_defaults() { return mw_compare_defaults(); }
/** Returns the default options. */
inline mw_compile_options compile_defaults() { return mw_compile_defaults(); }
/** Returns the options that keep a share apart at random. */
inline mw_divide_options divide_defaults(double share) { return mw_divide_defaults(share); }
/** Number `index` that this example draws, uniform in [0, 1) with 24 bits: word `index` of Philox 4x32-10 with
 *  the example's seed as its key. */
inline float map_example_uniform(const mw_map_example *example, uint64_t index)
{
    return mw_map_example_uniform(example, index);
}
/** Returns the options that change nothing. */
inline mw_augment_options augment_defaults(zstring column) { return mw_augment_defaults(column); }
/** Returns the options that only make numbers of labels. */
inline mw_mix_options mix_defaults(zstring column, zstring label, int64_t classes)
{
    return mw_mix_defaults(column, label, classes);
}
/** Returns options for a column. */
inline mw_normalize_options normalize_defaults(zstring column, const float *mean, const float *deviation,
                                               size_t channels)
{
    return mw_normalize_defaults(column, mean, deviation, channels);
}
/** Returns the default options for windows of so many rows. */
inline mw_window_options window_defaults(int64_t length) { return mw_window_defaults(length); }
/** Returns the default options. */
inline mw_table_options table_defaults(const mw_table_column *columns, size_t column_count)
{
    return mw_table_defaults(columns, column_count);
}
/** Returns the default options. */
inline mw_image_options image_defaults() { return mw_image_defaults(); }
/** Returns the default options. */
inline mw_sound_options sound_defaults() { return mw_sound_defaults(); }
/** Returns the default options, which change nothing. */
inline mw_sound_change_options sound_change_defaults(zstring column) { return mw_sound_change_defaults(column); }
/** An empty description, for the caller to fill. */
inline mw_description description_defaults() { return mw_description_defaults(); }
/** The feature of that name among the inputs, outputs and states of a function; NULL if there is none. */
inline const mw_feature *description_find(const mw_function_description *function, zstring name)
{
    return mw_description_find(function, name);
}
/** The description as text for people: one line a feature. */
inline std::string description_print(const mw_description *description)
{
    detail::call err;
    char *const made = mw_description_print(description, &err.it);
    err.check();
    return detail::taken(made);
}
/** Returns the default options. */
inline mw_draw_options draw_defaults() { return mw_draw_defaults(); }
/** Of the counts of a confusion; zeros for NULL or a class that is not there. */
inline mw_class_figures confusion_class(const int64_t *counts, int64_t classes, int64_t index)
{
    return mw_confusion_class(counts, classes, index);
}
/** The figures of all classes together. */
inline mw_confusion_figures confusion_all(const int64_t *counts, int64_t classes)
{
    return mw_confusion_all(counts, classes);
}
/** Returns options with everything else at its default. */
inline mw_fit_options fit_defaults(const mw_dataset *training, int64_t epochs)
{
    return mw_fit_defaults(training, epochs);
}
/** The signal that asked the latest mw_trainer_fit of this process to stop, SIGINT or SIGTERM; 0 if none did. */
inline int fit_signal() { return mw_fit_signal(); }
/** Writes a whole file of version 3, durably or not at all; one tensor is in memory at a time. */
inline void gguf_write(zstring path, const mw_gguf_file *file)
{
    detail::call err;
    mw_gguf_write(path, file, &err.it);
    err.check();
}
/** Returns the default options for the derivative of y by x. */
inline mw_gradcheck_options gradcheck_defaults(tensor y, const tensor_list &x)
{
    return mw_gradcheck_defaults(y, x.data(), detail::count(x));
}
/** Compares the gradient of y, compiled for the device, with central differences of y on the same device. */
inline void gradcheck_run(const mw_gradcheck_options *options, mw_gradcheck_report *out_report)
{
    detail::call err;
    mw_gradcheck_run(options, out_report, &err.it);
    err.check();
}
/** A tensor that the host feeds at each run. */
inline tensor input(mw_graph *graph, zstring name, mw_dtype dtype, mw_shape shape)
{
    return mw_input(graph, name, dtype, shape);
}
/** All elements 0. */
inline mw_init init_zeros() { return mw_init_zeros(); }
/** All elements `value`. */
inline mw_init init_constant(float value) { return mw_init_constant(value); }
/** Uniform in [low, high). */
inline mw_init init_uniform(float low, float high) { return mw_init_uniform(low, high); }
/** Normal, of that mean and standard deviation. */
inline mw_init init_normal(float mean, float stddev) { return mw_init_normal(mean, stddev); }
/** Uniform in +-1/sqrt(fan_in): PyTorch's default for Linear and Conv (He et al. */
inline mw_init init_kaiming_uniform() { return mw_init_kaiming_uniform(); }
/** Normal with stddev sqrt(2 / fan_in) (He et al. */
inline mw_init init_kaiming_normal() { return mw_init_kaiming_normal(); }
/** Uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010). */
inline mw_init init_xavier_uniform() { return mw_init_xavier_uniform(); }
/** Normal with stddev sqrt(2 / (fan_in + fan_out)). */
inline mw_init init_xavier_normal() { return mw_init_xavier_normal(); }
/** A copy of the dense row-major values at `data`, in the dtype of the parameter; copied by mw_parameter. */
inline mw_init init_data(const void *data) { return mw_init_data(data); }
/** A tensor that training changes. */
inline tensor parameter(mw_graph *graph, zstring name, mw_dtype dtype, mw_shape shape, mw_init init)
{
    return mw_parameter(graph, name, dtype, shape, init);
}
/** A tensor that stays on the device like a parameter but is not trained: PyTorch's buffer, e.g. the running mean
 *  of a batch norm. */
inline tensor state(mw_graph *graph, zstring name, mw_dtype dtype, mw_shape shape, mw_init init)
{
    return mw_state(graph, name, dtype, shape, init);
}
/** Says which value a state has after each training step; at most once per state. */
inline tensor state_assign(tensor state, tensor value) { return mw_state_assign(state, value); }
/** A constant; `data` is dense and row-major in `dtype` and is copied. */
inline tensor constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data)
{
    return mw_constant(graph, dtype, shape, data);
}
/** A rank-0 constant, `value` rounded once to `dtype` (F16, F32, I32 or BOOL). */
inline tensor scalar(mw_graph *graph, mw_dtype dtype, double value) { return mw_scalar(graph, dtype, value); }
/** Names a tensor for messages, text and ports; returns it. */
inline tensor name(tensor x, zstring name) { return mw_name(x, name); }
/** Makes x a result of the function under `name` (unique among inputs and results); returns the tensor that is
 *  the result: x itself, or an identity of it when x is an input, a constant, or a result already. */
inline tensor output(tensor x, zstring name) { return mw_output(x, name); }
/** Returns x as a leaf for differentiation: same value, no gradient flows through it. */
inline tensor stop_gradient(tensor x) { return mw_stop_gradient(x); }
/** Appends any operation that the table knows, with its arguments by MIL's names; missing optional ones get MIL's
 *  defaults. */
inline void op(mw_graph *graph, zstring operation, const mw_argument *arguments, size_t count, mw_tensor **out_results,
               size_t result_count)
{
    detail::call err;
    mw_op(graph, operation, arguments, count, out_results, result_count, &err.it);
    err.check();
}
/** A string constant, for mw_op. */
inline tensor text(mw_graph *graph, zstring text) { return mw_text(graph, text); }
/** Element type of x; MW_DTYPE_NONE for NULL or a value that is not a tensor. */
inline mw_dtype tensor_dtype(const mw_tensor *x) { return mw_tensor_dtype(x); }
/** Shape of x; rank 0 for NULL. */
inline mw_shape tensor_shape(const mw_tensor *x) { return mw_tensor_shape(x); }
/** Name of x or "" if it has none; lives as long as the graph. */
inline const char *tensor_name(const mw_tensor *x) { return mw_tensor_name(x); }
/** The graph of x; NULL for NULL. */
inline mw_graph *tensor_graph(const mw_tensor *x) { return mw_tensor_graph(x); }
/** Returns the default options for a rate. */
inline mw_log_mel_options log_mel_defaults(int64_t rate) { return mw_log_mel_defaults(rate); }
/** y[.., m, t] = log max(floor, sum over k of b[m, k] |X[t, k]|^2), where X[t, k] is the sum over n < W of w[n]
 *  x[.., t H + n] exp(-2 pi i k n / N), k = 0 .. N / 2, and w[n] = (1 - cos(2 pi n / W)) / 2, the window of Hann. */
inline tensor log_mel(tensor x, const mw_log_mel_options *options = nullptr) { return mw_log_mel(x, options); }
/** loss = mean over n of -log softmax(logits)[n, label n]. */
inline tensor cross_entropy(tensor logits, tensor labels) { return mw_cross_entropy(logits, labels); }
/** Returns options that make mw_cross_entropy_with the same as mw_cross_entropy. */
inline mw_cross_entropy_options cross_entropy_defaults() { return mw_cross_entropy_defaults(); }
/** loss = sum over n of l[n] / sum over n of w[label n], for l[n] = -(1 - s) w[label n] log softmax(logits)[n,
 *  label n] - s / C sum_c w[c] log softmax(logits)[n, c], over the labels that are not ignored; for
 *  probabilities, mean of -sum_c w[c] ((1 - s) p + s / C) log softmax(logits). */
inline tensor cross_entropy_with(tensor logits, tensor labels, const mw_cross_entropy_options *options = nullptr)
{
    return mw_cross_entropy_with(logits, labels, options);
}
/** loss = mean over n of -log_probabilities[n, label n], the negative log-likelihood. */
inline tensor nll(tensor log_probabilities, tensor labels) { return mw_nll(log_probabilities, labels); }
/** loss = mean over n of sum over c != label n of max(0, margin - scores[n, label n] + scores[n, c]) / C. */
inline tensor multi_margin(tensor scores, tensor labels, float margin)
{
    return mw_multi_margin(scores, labels, margin);
}
/** The share of examples whose largest logit is that of their label; ties go to the lowest class, as in
 *  numpy.argmax. */
inline tensor accuracy(tensor logits, tensor labels) { return mw_accuracy(logits, labels); }
/** mw_accuracy of the labels that are not `ignore_index`, which go with an ignore_index of the loss; 0 if none
 *  counts. */
inline tensor accuracy_ignoring(tensor logits, tensor labels, int32_t ignore_index)
{
    return mw_accuracy_ignoring(logits, labels, ignore_index);
}
/** loss = mean over all elements of (y - target)^2. */
inline tensor mse(tensor y, tensor target) { return mw_mse(y, target); }
/** loss = mean over all elements of |y - target|; arguments and errors as mw_mse. */
inline tensor l1(tensor y, tensor target) { return mw_l1(y, target); }
/** loss = mean over all elements of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = y - target. */
inline tensor huber(tensor y, tensor target, float delta) { return mw_huber(y, target, delta); }
/** loss = mean over all elements of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = y - target. */
inline tensor smooth_l1(tensor y, tensor target, float beta) { return mw_smooth_l1(y, target, beta); }
/** loss = mean over all elements of -q target log sigmoid(logits) - (1 - target) log(1 - sigmoid(logits)). */
inline tensor binary_cross_entropy(tensor logits, tensor target, tensor positive_weight)
{
    return mw_binary_cross_entropy(logits, target, positive_weight);
}
/** loss = sum over all elements of target (log target - log_probabilities) / N: the divergence of the target from
 *  what is predicted, mean over the first axis only (PyTorch's "batchmean"). */
inline tensor kl_divergence(tensor log_probabilities, tensor target)
{
    return mw_kl_divergence(log_probabilities, target);
}
/** loss = mean over all elements of max(0, 1 - target y). */
inline tensor hinge(tensor y, tensor target) { return mw_hinge(y, target); }
/** y = x / max(|x|, epsilon), |x| the Euclidean length along `axis`. */
inline tensor normalize(tensor x, int axis, float epsilon) { return mw_normalize(x, axis, epsilon); }
/** loss = mean over n of 1 - cos(a[n], b[n]) where target[n] > 0, else max(0, cos(a[n], b[n]) - margin). */
inline tensor cosine_embedding(tensor a, tensor b, tensor target, float margin)
{
    return mw_cosine_embedding(a, b, target, margin);
}
/** loss = mean over n of max(0, |anchor[n] - positive[n]| - |anchor[n] - negative[n]| + margin). */
inline tensor triplet(tensor anchor, tensor positive, tensor negative, float margin)
{
    return mw_triplet(anchor, positive, negative, margin);
}
/** loss = mean over n of -log softmax over m of cos(queries[n], keys[m]) / temperature, at m = n: each query
 *  finds its key among those of the batch. */
inline tensor info_nce(tensor queries, tensor keys, float temperature)
{
    return mw_info_nce(queries, keys, temperature);
}
/** loss = mean over the 2 N views of -log softmax over all other views of cos / temperature, at the other view of
 *  the same example. */
inline tensor nt_xent(tensor a, tensor b, float temperature) { return mw_nt_xent(a, b, temperature); }
/** loss = mean over n of -log P(labels[n]) / max(1, label_lengths[n]), P the sum over all ways to spread the
 *  labels over the steps: each step says one class or blank, and blanks and repetitions are dropped. */
inline tensor ctc(tensor log_probabilities, tensor labels, tensor input_lengths, tensor label_lengths, int64_t blank)
{
    return mw_ctc(log_probabilities, labels, input_lengths, label_lengths, blank);
}
/** loss = mean over n of -(1 - p[n])^gamma log p[n], p[n] = softmax(logits)[n, label n]: cross-entropy in which
 *  examples that are right already count less. */
inline tensor focal(tensor logits, tensor labels, float gamma) { return mw_focal(logits, labels, gamma); }
/** loss = mean over all elements of -a t (1 - p)^gamma log p - (1 - a)(1 - t) p^gamma log(1 - p), p =
 *  sigmoid(logits), for targets t of 0 or 1; in between as torchvision has it, with (1 - p) t + p (1 - t) in the
 *  power. */
inline tensor binary_focal(tensor logits, tensor target, float alpha, float gamma)
{
    return mw_binary_focal(logits, target, alpha, gamma);
}
/** loss = mean of 1 - (2 sum y target + smooth) / (sum y + sum target + smooth), each sum over `axes`: how little
 *  two masks overlap. */
inline tensor dice(tensor y, tensor target, mw_axes axes, float smooth) { return mw_dice(y, target, axes, smooth); }
/** loss = mean over all elements of e^log_mean - target log_mean: counts, of which the logarithm of the mean is
 *  predicted. */
inline tensor poisson_nll(tensor log_mean, tensor target) { return mw_poisson_nll(log_mean, target); }
/** loss = mean over all elements of max(q d, (q - 1) d), d = target - y: its minimum is the quantile q of the
 *  target. */
inline tensor pinball(tensor y, tensor target, float q) { return mw_pinball(y, target, q); }
/** The operations of a MIL text as a part of the graph: out = f(inputs). */
inline mw_status mil_snippet(mw_graph *graph, zstring text, const tensor_list &inputs, mw_tensor **out_results,
                             size_t result_count)
{
    return mw_mil_snippet(graph, text, inputs.data(), detail::count(inputs), out_results, result_count);
}
/** Returns the default options. */
inline mw_onnx_options onnx_defaults() { return mw_onnx_defaults(); }
/** Holds a file of operator set 17, as mw_graph_write writes them, to the published schema of its operators:
 *  which there are, their inputs and attributes, and the element types and ranks of every value. */
inline void onnx_check(zstring path) { detail::call err; mw_onnx_check(path, &err.it); err.check(); }
/** y = max(x, 0). */
inline tensor relu(tensor x) { return mw_relu(x); }
/** y = 1 / (1 + e^-x); arguments and errors as mw_relu. */
inline tensor sigmoid(tensor x) { return mw_sigmoid(x); }
/** y = x * sigmoid(x); arguments and errors as mw_relu. */
inline tensor silu(tensor x) { return mw_silu(x); }
/** y = gelu(x) in the form that `mode` names; arguments as mw_relu. */
inline tensor gelu(tensor x, mw_gelu_mode mode) { return mw_gelu(x, mode); }
/** y = min(max(x, 0), 6); arguments and errors as mw_relu. */
inline tensor relu6(tensor x) { return mw_relu6(x); }
/** y = x where x >= 0, else alpha * x; arguments and errors as mw_relu. */
inline tensor leaky_relu(tensor x, float alpha) { return mw_leaky_relu(x, alpha); }
/** y = x where x >= 0, else alpha[c] * x, with one slope per channel c. */
inline tensor prelu(tensor x, tensor alpha) { return mw_prelu(x, alpha); }
/** y = min(x, beta) where x >= 0, else min(alpha * x, beta); arguments and errors as mw_relu. */
inline tensor clamped_relu(tensor x, float alpha, float beta) { return mw_clamped_relu(x, alpha, beta); }
/** y = x where x >= alpha, else 0; arguments and errors as mw_relu. */
inline tensor thresholded_relu(tensor x, float alpha) { return mw_thresholded_relu(x, alpha); }
/** y = x where x > 0, else alpha * (e^x - 1); arguments and errors as mw_relu. */
inline tensor elu(tensor x, float alpha) { return mw_elu(x, alpha); }
/** y = ln(1 + e^x); arguments and errors as mw_relu. */
inline tensor softplus(tensor x) { return mw_softplus(x); }
/** y = alpha[c] * ln(1 + e^(beta[c] * x)), with one pair of numbers per channel c. */
inline tensor softplus_parametric(tensor x, tensor alpha, tensor beta)
{
    return mw_softplus_parametric(x, alpha, beta);
}
/** y = x / (1 + |x|); arguments and errors as mw_relu. */
inline tensor softsign(tensor x) { return mw_softsign(x); }
/** y = alpha * tanh(beta * x); arguments and errors as mw_relu. */
inline tensor scaled_tanh(tensor x, float alpha, float beta) { return mw_scaled_tanh(x, alpha, beta); }
/** y = min(max(alpha * x + beta, 0), 1); arguments and errors as mw_relu. */
inline tensor sigmoid_hard(tensor x, float alpha, float beta) { return mw_sigmoid_hard(x, alpha, beta); }
/** y = alpha * x + beta; arguments and errors as mw_relu. */
inline tensor linear_activation(tensor x, float alpha, float beta) { return mw_linear_activation(x, alpha, beta); }
/** y = softmax(query key^T / sqrt(E) + mask) value, the softmax over the S keys. */
inline tensor scaled_dot_product_attention(tensor query, tensor key, tensor value, tensor mask)
{
    return mw_scaled_dot_product_attention(query, key, value, mask);
}
/** mw_scaled_dot_product_attention over `heads` parts of the last extent, between products with new parameters:
 *  PyTorch's MultiheadAttention with batch_first. */
inline tensor multi_head_attention_layer(tensor query, tensor key, tensor value, int64_t heads, tensor mask,
                                         zstring name)
{
    return mw_multi_head_attention_layer(query, key, value, heads, mask, name);
}
/** r = (x == y). */
inline tensor equal(tensor x, tensor y) { return mw_equal(x, y); }
/** r = (x != y); the rest as mw_equal. */
inline tensor not_equal(tensor x, tensor y) { return mw_not_equal(x, y); }
/** r = (x < y); the rest as mw_equal. */
inline tensor less(tensor x, tensor y) { return mw_less(x, y); }
/** r = (x <= y); the rest as mw_equal. */
inline tensor less_equal(tensor x, tensor y) { return mw_less_equal(x, y); }
/** r = (x > y); the rest as mw_equal. */
inline tensor greater(tensor x, tensor y) { return mw_greater(x, y); }
/** r = (x >= y); the rest as mw_equal. */
inline tensor greater_equal(tensor x, tensor y) { return mw_greater_equal(x, y); }
/** r = x and y. */
inline tensor logical_and(tensor x, tensor y) { return mw_logical_and(x, y); }
/** r = x or y; arguments and errors as mw_logical_and. */
inline tensor logical_or(tensor x, tensor y) { return mw_logical_or(x, y); }
/** r = x differs from y; arguments and errors as mw_logical_and. */
inline tensor logical_xor(tensor x, tensor y) { return mw_logical_xor(x, y); }
/** r = not x. */
inline tensor logical_not(tensor x) { return mw_logical_not(x); }
/** r = a where cond is true, else b. */
inline tensor select(tensor cond, tensor a, tensor b) { return mw_select(cond, a, b); }
/** vars = body(vars) as long as condition(vars). */
inline mw_status while_loop(const tensor_list &vars, mw_loop_condition *condition, mw_loop_body *body, void *user,
                            mw_tensor **out_vars)
{
    return mw_while_loop(vars.data(), detail::count(vars), condition, body, user, out_vars);
}
/** results = pred ? yes() : no(). */
inline mw_status cond(tensor pred, mw_branch *yes, mw_branch *no, void *user, mw_tensor **out_results, size_t count)
{
    return mw_cond(pred, yes, no, user, out_results, count);
}
/** A list of `length` zeros of shape `element`. */
inline tensor make_list(mw_graph *graph, mw_dtype dtype, mw_shape element, int64_t length, bool dynamic)
{
    return mw_make_list(graph, dtype, element, length, dynamic);
}
/** The list with value at index. */
inline tensor list_write(tensor list, tensor index, tensor value) { return mw_list_write(list, index, value); }
/** The element at index. */
inline tensor list_read(tensor list, tensor index) { return mw_list_read(list, index); }
/** The elements at `indices`, stacked. */
inline tensor list_gather(tensor list, tensor indices) { return mw_list_gather(list, indices); }
/** The list with value[i] at indices[i]; of equal indices the last counts. */
inline tensor list_scatter(tensor list, tensor indices, tensor value) { return mw_list_scatter(list, indices, value); }
/** The length of a list. */
inline tensor list_length(tensor list) { return mw_list_length(list); }
/** label = classes[index of the largest of probabilities], and the probability of each class: what makes a
 *  program a classifier for Core ML. */
inline mw_status classify(tensor probabilities, const mw_classes *classes, mw_tensor **out_label,
                          mw_tensor **out_probabilities)
{
    return mw_classify(probabilities, classes, out_label, out_probabilities);
}
/** Returns the default options. */
inline mw_conv_options conv_defaults() { return mw_conv_defaults(); }
/** y[n, o, p] = bias[o] + sum over c, k of x[n, c, p s + k d - b] weight[o, c, k]: cross-correlation, the kernel
 *  is not flipped; x is 0 outside, and channel o sees the C / G channels of its group. */
inline tensor conv(tensor x, tensor weight, tensor bias, const mw_conv_options *options = nullptr)
{
    return mw_conv(x, weight, bias, options);
}
/** The transpose of the linear map mw_conv, with the same numbers: y[n, o, p s + k d - b] = bias[o] + sum of x[n,
 *  c, p] weight[c, o, k]. */
inline tensor conv_transpose(tensor x, tensor weight, tensor bias, const mw_conv_options *options = nullptr)
{
    return mw_conv_transpose(x, weight, bias, options);
}
/** mw_conv with new parameters: PyTorch's Conv1d, Conv2d and Conv3d. */
inline tensor conv_layer(tensor x, int64_t channels, mw_shape kernel, zstring name,
                         const mw_conv_options *options = nullptr)
{
    return mw_conv_layer(x, channels, kernel, name, options);
}
/** mw_conv_transpose with new parameters: PyTorch's ConvTranspose1d, 2d and 3d. */
inline tensor conv_transpose_layer(tensor x, int64_t channels, mw_shape kernel, zstring name,
                                   const mw_conv_options *options = nullptr)
{
    return mw_conv_transpose_layer(x, channels, kernel, name, options);
}
/** r = x + y. */
inline tensor add(tensor x, tensor y) { return mw_add(x, y); }
/** r = x - y; arguments and errors as mw_add. */
inline tensor sub(tensor x, tensor y) { return mw_sub(x, y); }
/** r = x * y; arguments and errors as mw_add. */
inline tensor mul(tensor x, tensor y) { return mw_mul(x, y); }
/** r = x / y; arguments and errors as mw_add. */
inline tensor real_div(tensor x, tensor y) { return mw_real_div(x, y); }
/** r = floor(x / y), toward minus infinity; arguments and errors as mw_add. */
inline tensor floor_div(tensor x, tensor y) { return mw_floor_div(x, y); }
/** r = x - floor(x / y) * y, which has the sign of y (PyTorch's remainder); arguments and errors as mw_add. */
inline tensor mod(tensor x, tensor y) { return mw_mod(x, y); }
/** r = the larger of x and y, NaN if either is; arguments and errors as mw_add. */
inline tensor maximum(tensor x, tensor y) { return mw_maximum(x, y); }
/** r = the smaller of x and y, NaN if either is; arguments and errors as mw_add. */
inline tensor minimum(tensor x, tensor y) { return mw_minimum(x, y); }
/** r = x^y; a negative x is defined for integral y only; arguments and errors as mw_add. */
inline tensor pow(tensor x, tensor y) { return mw_pow(x, y); }
/** r = x + value: mw_add with a scalar constant of x's dtype. */
inline tensor add_scalar(tensor x, double value) { return mw_add_scalar(x, value); }
/** r = x * value: mw_mul with a scalar constant of x's dtype; arguments and errors as mw_add_scalar. */
inline tensor mul_scalar(tensor x, double value) { return mw_mul_scalar(x, value); }
/** r = -x: mw_mul_scalar(x, -1), as MIL has no negation. */
inline tensor neg(tensor x) { return mw_neg(x); }
/** r = |x|. */
inline tensor abs(tensor x) { return mw_abs(x); }
/** r = -1, 0 or 1 by the sign of x; arguments and errors as mw_abs. */
inline tensor sign(tensor x) { return mw_sign(x); }
/** r = x * x; arguments and errors as mw_abs. */
inline tensor square(tensor x) { return mw_square(x); }
/** r = sqrt(x); NaN for negative x. */
inline tensor sqrt(tensor x) { return mw_sqrt(x); }
/** r = 1 / sqrt(x + epsilon). */
inline tensor rsqrt(tensor x, float epsilon) { return mw_rsqrt(x, epsilon); }
/** r = 1 / (x + epsilon); arguments and errors as mw_rsqrt. */
inline tensor inverse(tensor x, float epsilon) { return mw_inverse(x, epsilon); }
/** r = ln(x + epsilon); arguments and errors as mw_rsqrt. */
inline tensor log(tensor x, float epsilon) { return mw_log(x, epsilon); }
/** r = e^x; arguments and errors as mw_sqrt. */
inline tensor exp(tensor x) { return mw_exp(x); }
/** r = the error function of x; arguments and errors as mw_sqrt. */
inline tensor erf(tensor x) { return mw_erf(x); }
/** r = the hyperbolic tangent of x; arguments and errors as mw_sqrt. */
inline tensor tanh(tensor x) { return mw_tanh(x); }
/** r = 2^x; arguments and errors as mw_abs. */
inline tensor exp2(tensor x) { return mw_exp2(x); }
/** r = the largest integer not above x; arguments and errors as mw_sqrt. */
inline tensor floor(tensor x) { return mw_floor(x); }
/** r = the smallest integer not below x; arguments and errors as mw_sqrt. */
inline tensor ceil(tensor x) { return mw_ceil(x); }
/** r = the integer nearest to x, of two equally near ones the even one; arguments and errors as mw_sqrt. */
inline tensor round(tensor x) { return mw_round(x); }
/** r = the sine of x in radians; arguments and errors as mw_sqrt. */
inline tensor sin(tensor x) { return mw_sin(x); }
/** r = the cosine of x in radians; arguments and errors as mw_sqrt. */
inline tensor cos(tensor x) { return mw_cos(x); }
/** r = the tangent of x in radians; arguments and errors as mw_sqrt. */
inline tensor tan(tensor x) { return mw_tan(x); }
/** r = the angle in [-pi/2, pi/2] whose sine is x; arguments and errors as mw_sqrt. */
inline tensor asin(tensor x) { return mw_asin(x); }
/** r = the angle in [0, pi] whose cosine is x; arguments and errors as mw_sqrt. */
inline tensor acos(tensor x) { return mw_acos(x); }
/** r = the angle in (-pi/2, pi/2) whose tangent is x; arguments and errors as mw_sqrt. */
inline tensor atan(tensor x) { return mw_atan(x); }
/** r = the hyperbolic sine of x; arguments and errors as mw_sqrt. */
inline tensor sinh(tensor x) { return mw_sinh(x); }
/** r = the hyperbolic cosine of x; arguments and errors as mw_sqrt. */
inline tensor cosh(tensor x) { return mw_cosh(x); }
/** r = the number whose hyperbolic tangent is x; arguments and errors as mw_sqrt. */
inline tensor atanh(tensor x) { return mw_atanh(x); }
/** r = max(x, alpha). */
inline tensor threshold(tensor x, float alpha) { return mw_threshold(x, alpha); }
/** r = min(max(x, alpha), beta). */
inline tensor clip(tensor x, float alpha, float beta) { return mw_clip(x, alpha, beta); }
/** r = x in another element type. */
inline tensor cast(tensor x, mw_dtype dtype) { return mw_cast(x, dtype); }
/** y = `on` at the position that each index names along a new axis, `off` elsewhere. */
inline tensor one_hot(tensor indices, int64_t size, int axis, mw_dtype dtype, double on, double off)
{
    return mw_one_hot(indices, size, axis, dtype, on, off);
}
/** y = x[.., indices, ..]: slices of x along axis. */
inline tensor gather(tensor x, tensor indices, int axis) { return mw_gather(x, indices, axis); }
/** y[a, j, b] = x[a, indices[a, j, b], b]: one element per index, as numpy.take_along_axis. */
inline tensor gather_along_axis(tensor x, tensor indices, int axis) { return mw_gather_along_axis(x, indices, axis); }
/** y[a, c, b] = x[a, indices[a, c, 0], .., indices[a, c, K - 1], b]: slices of x chosen by coordinates. */
inline tensor gather_nd(tensor x, tensor indices, int batch_dims) { return mw_gather_nd(x, indices, batch_dims); }
/** y = data, with updates[a, j, b] combined into y[a, indices[j], b]. */
inline tensor scatter(tensor data, tensor indices, tensor updates, int axis, mw_scatter_mode mode)
{
    return mw_scatter(data, indices, updates, axis, mode);
}
/** y = data, with updates[a, j, b] combined into y[a, indices[a, j, b], b]; else as mw_scatter. */
inline tensor scatter_along_axis(tensor data, tensor indices, tensor updates, int axis, mw_scatter_mode mode)
{
    return mw_scatter_along_axis(data, indices, updates, axis, mode);
}
/** y = data, with updates[c, b] combined into y[indices[c, 0], .., indices[c, K - 1], b]; else as mw_scatter. */
inline tensor scatter_nd(tensor data, tensor indices, tensor updates, mw_scatter_mode mode)
{
    return mw_scatter_nd(data, indices, updates, mode);
}
/** y = coordinates of the elements that are not 0 (NaN is not), in row-major order. */
inline tensor non_zero(tensor x) { return mw_non_zero(x); }
/** y = weight[indices, :] with a new parameter: PyTorch's Embedding. */
inline tensor embedding(tensor indices, int64_t count, int64_t dim, zstring name)
{
    return mw_embedding(indices, count, dim, name);
}
/** y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] for y of extents height and width. */
inline tensor upsample_nearest_neighbor(tensor x, float scale_height, float scale_width)
{
    return mw_upsample_nearest_neighbor(x, scale_height, scale_width);
}
/** y = x resized linearly by a factor; arguments, result and errors as mw_upsample_nearest_neighbor. */
inline tensor upsample_bilinear(tensor x, float scale_height, float scale_width, bool align_corners)
{
    return mw_upsample_bilinear(x, scale_height, scale_width, align_corners);
}
/** y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] (PyTorch's "nearest", computed exactly). */
inline tensor resize_nearest_neighbor(tensor x, int64_t height, int64_t width)
{
    return mw_resize_nearest_neighbor(x, height, width);
}
/** y = x resized linearly; arguments, result and errors as mw_resize_nearest_neighbor. */
inline tensor resize_bilinear(tensor x, int64_t height, int64_t width, mw_sampling_mode sampling)
{
    return mw_resize_bilinear(x, height, width, sampling);
}
/** y = x resized linearly or to the nearest element; needs MW_IOS17. */
inline tensor resize(tensor x, int64_t height, int64_t width, mw_interpolation_mode interpolation,
                     mw_sampling_mode sampling)
{
    return mw_resize(x, height, width, interpolation, sampling);
}
/** y = x without `top` and `bottom` rows, `left` and `right` columns. */
inline tensor crop(tensor x, int64_t top, int64_t bottom, int64_t left, int64_t right)
{
    return mw_crop(x, top, bottom, left, right);
}
/** A layer of one's own. */
inline mw_layer *layer_create(mw_graph *graph, zstring name, mw_layer_function *function, void *user)
{
    return mw_layer_create(graph, name, function, user);
}
/** y = layer(x[0], .., x[count - 1]). */
inline tensor layer_apply(mw_layer *layer, const tensor_list &x)
{
    return mw_layer_apply(layer, x.data(), detail::count(x));
}
/** mw_layer_apply of one tensor. */
inline tensor layer_apply_one(mw_layer *layer, tensor x) { return mw_layer_apply_one(layer, x); }
/** A layer of mw_dense. */
inline mw_layer *layer_dense(mw_graph *graph, int64_t units, zstring name)
{
    return mw_layer_dense(graph, units, name);
}
/** A layer of mw_conv_layer. */
inline mw_layer *layer_conv(mw_graph *graph, int64_t channels, mw_shape kernel, zstring name,
                            const mw_conv_options *options = nullptr)
{
    return mw_layer_conv(graph, channels, kernel, name, options);
}
/** A layer of mw_embedding: x are indices. */
inline mw_layer *layer_embedding(mw_graph *graph, int64_t count, int64_t dim, zstring name)
{
    return mw_layer_embedding(graph, count, dim, name);
}
/** A layer of mw_layer_norm_layer. */
inline mw_layer *layer_layer_norm(mw_graph *graph, int axis_count, float epsilon, zstring name)
{
    return mw_layer_layer_norm(graph, axis_count, epsilon, name);
}
/** A layer of mw_batch_norm_layer: each application normalizes by its own batch, and the running statistics
 *  follow all of them. */
inline mw_layer *layer_batch_norm(mw_graph *graph, float momentum, float epsilon, zstring name)
{
    return mw_layer_batch_norm(graph, momentum, epsilon, name);
}
/** r = x y, a matrix product over the last two axes; the axes before them broadcast. */
inline tensor matmul(tensor x, tensor y, mw_transposes transposes) { return mw_matmul(x, y, transposes); }
/** r = a b, a sum over the axis that both share and the result lacks, in one of MIL's two equations. */
inline tensor einsum(tensor a, tensor b, zstring equation) { return mw_einsum(a, b, equation); }
/** r = sum over the letters that the result lacks of the product of the operands: einsum of any number of
 *  operands. */
inline tensor contract(zstring equation, const tensor_list &operands)
{
    return mw_contract(equation, operands.data(), detail::count(operands));
}
/** r = x weight^T + bias. */
inline tensor linear(tensor x, tensor weight, tensor bias) { return mw_linear(x, weight, bias); }
/** r = x weight^T + bias with new parameters: PyTorch's Linear. */
inline tensor dense(tensor x, int64_t units, zstring name) { return mw_dense(x, units, name); }
/** y = softmax(x) along axis. */
inline tensor softmax(tensor x, int axis) { return mw_softmax(x, axis); }
/** y = log softmax(x) along axis, as z - log sum e^z with z = x - max(x). */
inline tensor log_softmax(tensor x, int axis) { return mw_log_softmax(x, axis); }
/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the axes jointly. */
inline tensor layer_norm(tensor x, mw_axes axes, tensor gamma, tensor beta, float epsilon)
{
    return mw_layer_norm(x, axes, gamma, beta, epsilon);
}
/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the positions of one channel
 *  of one example. */
inline tensor instance_norm(tensor x, tensor gamma, tensor beta, float epsilon)
{
    return mw_instance_norm(x, gamma, beta, epsilon);
}
/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the channels of one group
 *  and their positions. */
inline tensor group_norm(tensor x, int64_t groups, tensor gamma, tensor beta, float epsilon)
{
    return mw_group_norm(x, groups, gamma, beta, epsilon);
}
/** y = x / sqrt(mean(x^2) + epsilon) * weight, with the mean over the axes jointly. */
inline tensor rms_norm(tensor x, mw_axes axes, tensor weight, float epsilon)
{
    return mw_rms_norm(x, axes, weight, epsilon);
}
/** y = x / sqrt(sum(x^2) + epsilon), with the sum over the last three axes. */
inline tensor l2_norm(tensor x, float epsilon) { return mw_l2_norm(x, epsilon); }
/** y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, each channel with its own numbers. */
inline tensor batch_norm(tensor x, tensor mean, tensor variance, tensor gamma, tensor beta, float epsilon)
{
    return mw_batch_norm(x, mean, variance, gamma, beta, epsilon);
}
/** y = x / (k + alpha / size * sum(x^2))^beta, with the sum over a window of channels around each. */
inline tensor local_response_norm(tensor x, int size, float alpha, float beta, float k)
{
    return mw_local_response_norm(x, size, alpha, beta, k);
}
/** mw_layer_norm over the last axes with new parameters: PyTorch's LayerNorm. */
inline tensor layer_norm_layer(tensor x, int axis_count, float epsilon, zstring name)
{
    return mw_layer_norm_layer(x, axis_count, epsilon, name);
}
/** mw_rms_norm over the last axes with the new parameter `name`.weight (ones): PyTorch's RMSNorm. */
inline tensor rms_norm_layer(tensor x, int axis_count, float epsilon, zstring name)
{
    return mw_rms_norm_layer(x, axis_count, epsilon, name);
}
/** mw_group_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
 *  GroupNorm. */
inline tensor group_norm_layer(tensor x, int64_t groups, float epsilon, zstring name)
{
    return mw_group_norm_layer(x, groups, epsilon, name);
}
/** mw_instance_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
 *  InstanceNorm with affine = True. */
inline tensor instance_norm_layer(tensor x, float epsilon, zstring name)
{
    return mw_instance_norm_layer(x, epsilon, name);
}
/** y = (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel: PyTorch's BatchNorm1d, 2d and 3d. */
inline tensor batch_norm_layer(tensor x, float momentum, float epsilon, zstring name)
{
    return mw_batch_norm_layer(x, momentum, epsilon, name);
}
/** Fills *out with operation `index`, in the order of the table; false beyond the last, *out is then zero. */
inline bool operation_at(size_t index, mw_operation *out) { return mw_operation_at(index, out); }
/** Fills *out with argument `argument` of operation `index`; false beyond the last, *out is then zero. */
inline bool operation_argument_at(size_t index, size_t argument, mw_operation_argument *out)
{
    return mw_operation_argument_at(index, argument, out);
}
/** Returns the default options for a kernel. */
inline mw_pool_options pool_defaults(mw_shape kernel) { return mw_pool_defaults(kernel); }
/** y[n, c, o] = largest of x[n, c, o s - b + k] over k in [0, K). */
inline tensor max_pool(tensor x, const mw_pool_options *options = nullptr) { return mw_max_pool(x, options); }
/** y[n, c, o] = sum of x[n, c, o s - b + k] over k in [0, K), divided by the elements of the window that stand
 *  within [-b, S + a) of each axis, or by those within x (exclude_padding); arguments, shapes and errors as
 *  mw_max_pool. */
inline tensor avg_pool(tensor x, const mw_pool_options *options = nullptr) { return mw_avg_pool(x, options); }
/** y[n, c, o] = sqrt(sum of x[n, c, o s - b + k]^2 over k in [0, K)); one or two spatial axes, the rest as
 *  mw_max_pool. */
inline tensor l2_pool(tensor x, const mw_pool_options *options = nullptr) { return mw_l2_pool(x, options); }
/** y = clip(round(x / scale) + zero_point), ties to even, to the range of dtype. */
inline tensor quantize(tensor x, tensor scale, tensor zero_point, int axis, mw_dtype dtype)
{
    return mw_quantize(x, scale, zero_point, axis, dtype);
}
/** y = scale (x - zero_point). */
inline tensor dequantize(tensor x, tensor scale, tensor zero_point, int axis)
{
    return mw_dequantize(x, scale, zero_point, axis);
}
/** y = dequantize(quantize(x)), with the straight-through gradient: for training that knows of the quantization. */
inline tensor fake_quantize(tensor x, tensor scale, tensor zero_point, int axis, mw_dtype dtype)
{
    return mw_fake_quantize(x, scale, zero_point, axis, dtype);
}
/** y = scale (data - offset). */
inline tensor constexpr_blockwise_shift_scale(tensor data, tensor scale, tensor offset)
{
    return mw_constexpr_blockwise_shift_scale(data, scale, offset);
}
/** y = lut[indices], from one table for each block of elements; an index may stand for a vector. */
inline tensor constexpr_lut_to_dense(tensor indices, tensor lut, int vector_axis)
{
    return mw_constexpr_lut_to_dense(indices, lut, vector_axis);
}
/** y = the elements of nonzero_data, in order, where mask is 1, and 0 elsewhere. */
inline tensor constexpr_sparse_to_dense(tensor nonzero_data, tensor mask)
{
    return mw_constexpr_sparse_to_dense(nonzero_data, mask);
}
/** y = mean + stddev * sqrt(-2 ln((w0 + 1) / 2^32)) * cos(2 pi w1 / 2^32): normal numbers by Box and Muller. */
inline tensor random_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev, int32_t seed)
{
    return mw_random_normal(graph, dtype, shape, mean, stddev, seed);
}
/** y = low + (high - low) * floor(w0 / 2^8) / 2^24, uniform in [low, high); what rounds to high becomes the
 *  largest number of dtype below it. */
inline tensor random_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high, int32_t seed)
{
    return mw_random_uniform(graph, dtype, shape, low, high, seed);
}
/** y = 1 where w0 / 2^32 < prob, else 0. */
inline tensor random_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, int32_t seed)
{
    return mw_random_bernoulli(graph, dtype, shape, prob, seed);
}
/** y[.., s] = the first class c with p[0] + .. + p[c] > (w0 / 2^32) * sum(p): `size` classes drawn from each row,
 *  with replacement, by the inverse distribution function. */
inline tensor random_categorical(tensor x, mw_categorical_mode mode, int64_t size, int32_t seed)
{
    return mw_random_categorical(x, mode, size, seed);
}
/** y = x * mask / (1 - p), each element of the mask 0 with probability p, else 1: a new mask at every training
 *  step. */
inline tensor dropout(tensor x, float p, zstring name) { return mw_dropout(x, p, name); }
/** y = mean + stddev * z(u), z the quantile function of the normal distribution: |z| <= 4.97 (beyond lie 7e-7 of
 *  the distribution), no value twice but by rounding. */
inline tensor noise_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev, zstring name)
{
    return mw_noise_normal(graph, dtype, shape, mean, stddev, name);
}
/** y = low + (high - low) u, in [low, high): u = (k + 1/2) / 923,521 for k from 0 on, each equally likely. */
inline tensor noise_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high, zstring name)
{
    return mw_noise_uniform(graph, dtype, shape, low, high, name);
}
/** y = 1 with probability prob, else 0; the same in fp32 and fp16. */
inline tensor noise_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, zstring name)
{
    return mw_noise_bernoulli(graph, dtype, shape, prob, name);
}
/** Returns options with everything at its default, which stands beside each. */
inline mw_recurrent_options recurrent_defaults() { return mw_recurrent_defaults(); }
/** i = s(Wi x + Ui h + bi), f = s(Wf x + Uf h + bf), z = t(Wz x + Uz h + bz), c' = f c + i z, o = s(Wo x + Uo h +
 *  bo), h' = o a(c'), with s the recurrent, t the cell's and a the output's activation. */
inline mw_recurrent lstm(tensor x, tensor h, tensor c, const mw_recurrent_weights *weights,
                         const mw_recurrent_options *options = nullptr)
{
    return mw_lstm(x, h, c, weights, options);
}
/** r = s(Wr x + Ur h + br), z = s(Wz x + Uz h + bz), n = a(Wn x + Un (r h) + bn), h' = (1 - z) n + z h; with
 *  reset_after n = a(Wn x + r (Un h + bn)). */
inline mw_recurrent gru(tensor x, tensor h, const mw_recurrent_weights *weights,
                        const mw_recurrent_options *options = nullptr)
{
    return mw_gru(x, h, weights, options);
}
/** h' = a(W x + U h + b). */
inline mw_recurrent rnn(tensor x, tensor h, const mw_recurrent_weights *weights,
                        const mw_recurrent_options *options = nullptr)
{
    return mw_rnn(x, h, weights, options);
}
/** Returns options with everything at its default, which stands beside each. */
inline mw_recurrent_layer_options recurrent_layer_defaults() { return mw_recurrent_layer_defaults(); }
/** mw_lstm with new parameters: PyTorch's LSTM. */
inline mw_recurrent lstm_layer(tensor x, int64_t hidden, zstring name,
                               const mw_recurrent_layer_options *options = nullptr)
{
    return mw_lstm_layer(x, hidden, name, options);
}
/** mw_gru with reset_after and new parameters: PyTorch's GRU. */
inline mw_recurrent gru_layer(tensor x, int64_t hidden, zstring name,
                              const mw_recurrent_layer_options *options = nullptr)
{
    return mw_gru_layer(x, hidden, name, options);
}
/** y = sum of x over the axes. */
inline tensor reduce_sum(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_sum(x, axes, keep_dims); }
/** y = mean of x over the axes (integers: truncated); arguments as mw_reduce_sum. */
inline tensor reduce_mean(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_mean(x, axes, keep_dims); }
/** y = largest of x over the axes; arguments as mw_reduce_sum. */
inline tensor reduce_max(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_max(x, axes, keep_dims); }
/** y = smallest of x over the axes; arguments as mw_reduce_max. */
inline tensor reduce_min(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_min(x, axes, keep_dims); }
/** y = ln(sum of e^x over the axes), the maximum taken out first (integers: truncated); arguments as
 *  mw_reduce_max. */
inline tensor reduce_log_sum_exp(tensor x, mw_axes axes, bool keep_dims)
{
    return mw_reduce_log_sum_exp(x, axes, keep_dims);
}
/** y = product of x over the axes (integers wrap around); arguments as mw_reduce_sum. */
inline tensor reduce_prod(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_prod(x, axes, keep_dims); }
/** y = sum of x^2 over the axes (integers wrap around); arguments as mw_reduce_sum. */
inline tensor reduce_sum_square(tensor x, mw_axes axes, bool keep_dims)
{
    return mw_reduce_sum_square(x, axes, keep_dims);
}
/** y = sum of |x| over the axes (integers wrap around); arguments as mw_reduce_sum. */
inline tensor reduce_l1_norm(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_l1_norm(x, axes, keep_dims); }
/** y = sqrt(sum of x^2 over the axes) (integers: truncated); arguments as mw_reduce_sum. */
inline tensor reduce_l2_norm(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_l2_norm(x, axes, keep_dims); }
/** y = ln(sum of x over the axes) (integers: truncated, and 0 for a negative sum); arguments as mw_reduce_max. */
inline tensor reduce_log_sum(tensor x, mw_axes axes, bool keep_dims) { return mw_reduce_log_sum(x, axes, keep_dims); }
/** y = position of the largest x along axis: the first of equal ones, or of NaNs, as in NumPy. */
inline tensor reduce_argmax(tensor x, int axis, bool keep_dims) { return mw_reduce_argmax(x, axis, keep_dims); }
/** y = position of the smallest x along axis; the rest as mw_reduce_argmax. */
inline tensor reduce_argmin(tensor x, int axis, bool keep_dims) { return mw_reduce_argmin(x, axis, keep_dims); }
/** y[i] = x[0] + .. + x[i] along axis. */
inline tensor cumsum(tensor x, int axis, bool exclusive, bool reverse)
{
    return mw_cumsum(x, axis, exclusive, reverse);
}
/** Returns the default options, which are those of PyTorch's grid_sample. */
inline mw_resample_options resample_defaults() { return mw_resample_defaults(); }
/** y[n, c, i, j] = x[n, c] at the place coordinates[n, i, j], of which the first number is the column, the second
 *  the row. */
inline tensor resample(tensor x, tensor coordinates, const mw_resample_options *options = nullptr)
{
    return mw_resample(x, coordinates, options);
}
/** y[n, c, i, j] = x[n, c] at the place (u, v): u = a0 s + a1 t + a2, v = b0 s + b1 t + b2, where (s, t) are
 *  column and row of the element in the result, and all four count from -1 to 1. */
inline tensor affine(tensor x, tensor transform_matrix, int64_t height, int64_t width, bool align_corners)
{
    return mw_affine(x, transform_matrix, height, width, align_corners);
}
/** Returns the default options. */
inline mw_crop_resize_options crop_resize_defaults() { return mw_crop_resize_defaults(); }
/** y[r, c] = the part boxes[r] of image indices[r] of x, resized linearly. */
inline tensor crop_resize(tensor x, tensor boxes, tensor indices, int64_t height, int64_t width,
                          const mw_crop_resize_options *options = nullptr)
{
    return mw_crop_resize(x, boxes, indices, height, width, options);
}
/** y = x. */
inline tensor identity(tensor x) { return mw_identity(x); }
/** y = the elements of x in row-major order, in another shape. */
inline tensor reshape(tensor x, mw_shape shape) { return mw_reshape(x, shape); }
/** y = x as a matrix [A, B]: A the product of the extents before axis, B that of the others. */
inline tensor flatten2d(tensor x, int axis) { return mw_flatten2d(x, axis); }
/** y[i] has the extent of x at perm[i]. */
inline tensor transpose(tensor x, mw_axes perm) { return mw_transpose(x, perm); }
/** y = x with axes of extent 1 put in. */
inline tensor expand_dims(tensor x, mw_axes axes) { return mw_expand_dims(x, axes); }
/** y = x without axes of extent 1. */
inline tensor squeeze(tensor x, mw_axes axes) { return mw_squeeze(x, axes); }
/** y = the values one after the other along axis. */
inline tensor concat(const tensor_list &values, int axis)
{
    return mw_concat(values.data(), detail::count(values), axis);
}
/** y = the values side by side along a new axis. */
inline tensor stack(const tensor_list &values, int axis)
{
    return mw_stack(values.data(), detail::count(values), axis);
}
/** Cuts x into `count` equal parts along axis. */
inline mw_status split(tensor x, size_t count, int axis, mw_tensor **out_parts)
{
    return mw_split(x, count, axis, out_parts);
}
/** Cuts x along axis into parts of the given sizes, which must sum to its extent; the rest as mw_split. */
inline mw_status split_sizes(tensor x, const int64_t *sizes, size_t count, int axis, mw_tensor **out_parts)
{
    return mw_split_sizes(x, sizes, count, axis, out_parts);
}
/** y = x[slices]. */
inline tensor slice_by_index(tensor x, const mw_slice *slices) { return mw_slice_by_index(x, slices); }
/** y = x from begin, size elements along each axis. */
inline tensor slice_by_size(tensor x, const int64_t *begin, const int64_t *size)
{
    return mw_slice_by_size(x, begin, size);
}
/** mw_slice_by_size where begin is computed: the part is where begin points in this run. */
inline tensor slice_by_size_at(tensor x, tensor begin, const int64_t *size)
{
    return mw_slice_by_size_at(x, begin, size);
}
/** y = x with the part x[slices] replaced by update. */
inline tensor slice_update(tensor x, tensor update, const mw_slice *slices)
{
    return mw_slice_update(x, update, slices);
}
/** mw_slice_update where begin is computed, as a cache needs it. */
inline tensor slice_update_at(tensor x, tensor update, tensor begin) { return mw_slice_update_at(x, update, begin); }
/** y = x with the order of the elements along the axes turned round. */
inline tensor reverse(tensor x, mw_axes axes) { return mw_reverse(x, axes); }
/** y[.., s, ..] = x[.., lengths[b] - 1 - s, ..] for s < lengths[b], else x[.., s, ..], where b is the position on
 *  batch_axis and s that on seq_axis. */
inline tensor reverse_sequence(tensor x, tensor lengths, int seq_axis, int batch_axis)
{
    return mw_reverse_sequence(x, lengths, seq_axis, batch_axis);
}
/** y[.., w, k, ..] = x[.., w stride + k, ..]: the windows of an axis. */
inline tensor sliding_windows(tensor x, int axis, int64_t size, int64_t stride)
{
    return mw_sliding_windows(x, axis, size, stride);
}
/** y[.., m, n] = x[.., m, n] within the band: (lower < 0 or m - n <= lower) and (upper < 0 or n - m <= upper);
 *  else 0. */
inline tensor band_part(tensor x, int64_t lower, int64_t upper) { return mw_band_part(x, lower, upper); }
/** y = x repeated reps[i] times along axis i. */
inline tensor tile(tensor x, mw_shape reps) { return mw_tile(x, reps); }
/** y = x with a border. */
inline tensor pad(tensor x, const int64_t *pad, int axes, mw_pad_mode mode, float value)
{
    return mw_pad(x, pad, axes, mode, value);
}
/** y = `value` everywhere. */
inline tensor fill(mw_graph *graph, mw_dtype dtype, mw_shape shape, double value)
{
    return mw_fill(graph, dtype, shape, value);
}
/** y = `value` everywhere, in the shape of ref. */
inline tensor fill_like(tensor ref, mw_dtype dtype, double value) { return mw_fill_like(ref, dtype, value); }
/** y = the extents of x. */
inline tensor shape_of(tensor x) { return mw_shape_of(x); }
/** y = start, start + step, ... as long as it stays before end. */
inline tensor range_1d(mw_graph *graph, mw_dtype dtype, double start, double end, double step)
{
    return mw_range_1d(graph, dtype, start, end, step);
}
/** r = the indices along axis that sort x; MIL's own default is descending. */
inline tensor argsort(tensor x, int axis, bool ascending) { return mw_argsort(x, axis, ascending); }
/** The k largest elements along axis and where they stand, sorted. */
inline mw_status topk(tensor x, int64_t k, int axis, bool ascending, mw_tensor **out_values, mw_tensor **out_indices)
{
    return mw_topk(x, k, axis, ascending, out_values, out_indices);
}
/** Returns the default options. */
inline mw_non_maximum_suppression_options non_maximum_suppression_defaults()
{
    return mw_non_maximum_suppression_defaults();
}
/** The boxes that stay, of each image: the box with the largest score, then the next of those left that overlaps
 *  none of the ones that stay by more than iou_threshold, and so on, at most max_boxes; of equal scores the lower
 *  index first. */
inline mw_status non_maximum_suppression(tensor boxes, tensor scores, int64_t max_boxes,
                                         const mw_non_maximum_suppression_options *options, mw_tensor **out_boxes,
                                         mw_tensor **out_scores, mw_tensor **out_indices, mw_tensor **out_counts)
{
    return mw_non_maximum_suppression(boxes, scores, max_boxes, options, out_boxes, out_scores, out_indices,
                                      out_counts);
}
/** y[n, c, h b + i, w b + j] = x[n, (i b + j) C + c, h, w]: TensorFlow's order (DCR of ONNX). */
inline tensor depth_to_space(tensor x, int64_t block) { return mw_depth_to_space(x, block); }
/** y[n, (i b + j) C + c, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_depth_to_space. */
inline tensor space_to_depth(tensor x, int64_t block) { return mw_space_to_depth(x, block); }
/** y[n, c, h b + i, w b + j] = x[n, c b b + i b + j, h, w]: PyTorch's order (CRD of ONNX). */
inline tensor pixel_shuffle(tensor x, int64_t factor) { return mw_pixel_shuffle(x, factor); }
/** y[n, c b b + i b + j, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_pixel_shuffle. */
inline tensor pixel_unshuffle(tensor x, int64_t factor) { return mw_pixel_unshuffle(x, factor); }
/** y[(i b1 + j) N + n, c, h, w] = p[n, c, h b0 + i, w b1 + j], where p is x with a border of zeros. */
inline tensor space_to_batch(tensor x, const int64_t *block, const int64_t *paddings)
{
    return mw_space_to_batch(x, block, paddings);
}
/** y = p without its border, where p[n, c, h b0 + i, w b1 + j] = x[(i b1 + j) N + n, c, h, w]. */
inline tensor batch_to_space(tensor x, const int64_t *block, const int64_t *crops)
{
    return mw_batch_to_space(x, block, crops);
}
/** p' = p - lr g. */
inline mw_optimizer sgd(float learning_rate) { return mw_sgd(learning_rate); }
/** b' = momentum b + g; p' = p - lr b', with nesterov p' = p - lr (g + momentum b'). */
inline mw_optimizer sgd_momentum(float learning_rate, float momentum, bool nesterov)
{
    return mw_sgd_momentum(learning_rate, momentum, nesterov);
}
/** m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2; p' = p - lr / (1 - beta1^t) * m' / (sqrt(v') /
 *  sqrt(1 - beta2^t) + epsilon). */
inline mw_optimizer adam(float learning_rate) { return mw_adam(learning_rate); }
/** Adam with p shrunk by (1 - lr weight_decay) before the update. */
inline mw_optimizer adamw(float learning_rate, float weight_decay) { return mw_adamw(learning_rate, weight_decay); }
/** v' = alpha v + (1 - alpha) g^2; p' = p - lr g / (sqrt(v') + epsilon). */
inline mw_optimizer rmsprop(float learning_rate) { return mw_rmsprop(learning_rate); }
/** s' = s + g^2; p' = p - lr / (1 + (t - 1) lr_decay) * g / (sqrt(s') + epsilon). */
inline mw_optimizer adagrad(float learning_rate) { return mw_adagrad(learning_rate); }
/** p' = p - lr (sign(beta1 m + (1 - beta1) g) + weight_decay p); m' = beta2 m + (1 - beta2) g. */
inline mw_optimizer lion(float learning_rate, float weight_decay) { return mw_lion(learning_rate, weight_decay); }
/** Matrices: m' = momentum m + (1 - momentum) g; p' = p - lr (scale U V^T + weight_decay p), where U S V^T is the
 *  matrix (1 - momentum) g + momentum m', or m' without nesterov. */
inline mw_optimizer muon(float learning_rate, float weight_decay) { return mw_muon(learning_rate, weight_decay); }
/** Sets a number, which is rounded to single precision. */
inline bool optimizer_set(mw_optimizer *optimizer, mw_optimizer_number number, double value)
{
    return mw_optimizer_set(optimizer, number, value);
}
/** What a number is; 0 for one that the optimizer does not have, and for NULL. */
inline double optimizer_get(const mw_optimizer *optimizer, mw_optimizer_number number)
{
    return mw_optimizer_get(optimizer, number);
}
/** What the optimizer is called in messages and checkpoints: "sgd", "adam" (AdamW too), "rmsprop", "adagrad",
 *  "lion", "muon" or "custom"; "?" for what no function made. */
inline const char *optimizer_name(const mw_optimizer *optimizer) { return mw_optimizer_name(optimizer); }
/** Fills *out with the number `index` of those that this optimizer has; false past the last. */
inline bool optimizer_number_at(const mw_optimizer *optimizer, size_t index, mw_optimizer_number_info *out)
{
    return mw_optimizer_number_at(optimizer, index, out);
}
/** A rule of this name and update; everything else as said above. */
inline mw_optimizer_rule optimizer_rule_defaults(zstring name, mw_update_function *update)
{
    return mw_optimizer_rule_defaults(name, update);
}
/** The rule as an optimizer. */
inline mw_optimizer optimizer_custom(float learning_rate, const mw_optimizer_rule *rule)
{
    return mw_optimizer_custom(learning_rate, rule);
}
/** What is fed under this name. */
inline tensor update_call_scalar(const mw_update_call *call, zstring name) { return mw_update_call_scalar(call, name); }
/** n[b] = sqrt(sum over i and all elements of dx[i][b]^2): how long the gradient of each example is. */
inline tensor example_norms(const tensor_list &dx) { return mw_example_norms(dx.data(), detail::count(dx)); }
/** out_sums[i] = sum over b of dx[i][b] min(1, limit / n[b]), n of mw_example_norms: no example moves the sum by
 *  more than `limit`. */
inline void clip_examples(const tensor_list &dx, double limit, mw_tensor **out_sums)
{
    detail::call err;
    mw_clip_examples(dx.data(), detail::count(dx), limit, out_sums, &err.it);
    err.check();
}
/** Returns the default options. */
inline mw_plot_options plot_defaults() { return mw_plot_defaults(); }
/** Writes the curves as SVG, whole or not at all: a chart for each name, and one for those that belong together
 *  ("loss" with "validation/loss", all of "gradient_norm/..", of which at most 12 are drawn). */
inline void plot_write_svg(zstring metrics, zstring path, const mw_plot_options *options = nullptr)
{
    detail::call err;
    mw_plot_write_svg(metrics, path, options, &err.it);
    err.check();
}
/** The picture as a string. */
inline std::string plot_print_svg(zstring metrics, const mw_plot_options *options = nullptr)
{
    detail::call err;
    char *const made = mw_plot_print_svg(metrics, options, &err.it);
    err.check();
    return detail::taken(made);
}
/** Returns the default options. */
inline mw_range_options range_defaults() { return mw_range_defaults(); }
/** Runs a refused step again. */
inline void replay_run(zstring folder, const mw_compile_options *options, mw_replay_result *out)
{
    detail::call err;
    mw_replay_run(folder, options, out, &err.it);
    err.check();
}
/** Returns the default options. */
inline mw_report_options report_defaults() { return mw_report_defaults(); }
/** Writes the page, whole or not at all. */
inline void report_write(const mw_report_options *options, zstring path)
{
    detail::call err;
    mw_report_write(options, path, &err.it);
    err.check();
}
/** The page as a string. */
inline std::string report_print(const mw_report_options *options = nullptr)
{
    detail::call err;
    char *const made = mw_report_print(options, &err.it);
    err.check();
    return detail::taken(made);
}
/** factor = 1. */
inline mw_schedule schedule_constant() { return mw_schedule_constant(); }
/** factor = gamma^floor(t / period), t = step - W. */
inline mw_schedule schedule_step(int64_t period, double gamma) { return mw_schedule_step(period, gamma); }
/** factor = floor + (1 - floor) (1 + cos(pi t / T)) / 2, t = step - W. */
inline mw_schedule schedule_cosine(double floor) { return mw_schedule_cosine(floor); }
/** factor = 1 + (end - 1) t / T, t = step - W. */
inline mw_schedule schedule_linear(double end) { return mw_schedule_linear(end); }
/** One rise to the optimizer's rate and a long fall: with P = rise T - 1, factors follow a half cosine from 1 /
 *  start_divisor at t = 0 to 1 at t = P, and from there to 1 / (start_divisor end_divisor) at t = T - 1. */
inline mw_schedule schedule_one_cycle(double rise, double start_divisor, double end_divisor)
{
    return mw_schedule_one_cycle(rise, start_divisor, end_divisor);
}
/** factor = function(user, step - W, T). */
inline mw_schedule schedule_custom(mw_schedule_function *function, void *user)
{
    return mw_schedule_custom(function, user);
}
/** Returns the factor at `step` (from 0) of `steps`; after the last step it stays where it ends. */
inline double schedule_factor(const mw_schedule *schedule, int64_t step, int64_t steps)
{
    return mw_schedule_factor(schedule, step, steps);
}
/** The names of a task, one after the other; "top_K" stands for any K. */
inline const char *score_name(mw_score_task task, size_t index) { return mw_score_name(task, index); }
/** Makes *err the empty one again, so that calls which are given it do something. */
inline void error_clear() { detail::call err; mw_error_clear(&err.it); err.check(); }
/** Returns a short English name of the status ("shape error"); static storage. */
inline const char *status_name(mw_status status) { return mw_status_name(status); }
/** Sets the process-wide log hook; NULL (the default) is silence. */
inline void log_set(mw_log_function *function, void *user) { mw_log_set(function, user); }
/** Sets the process-wide hooks, a copy of *hooks; NULL (the default) is the system's threads. */
inline void thread_hooks_set(const mw_thread_hooks *hooks)
{
    detail::call err;
    mw_thread_hooks_set(hooks, &err.it);
    err.check();
}
/** Returns the library's version, "major.minor.patch"; static storage. */
inline const char *version() { return mw_version(); }
/** Returns the default options. */
inline mw_table_fit_options table_fit_defaults(zstring path, zstring target)
{
    return mw_table_fit_defaults(path, target);
}
/** Returns the default options. */
inline mw_table_stream_options table_stream_defaults(zstring path, mw_table_rows_function *function, void *user)
{
    return mw_table_stream_defaults(path, function, user);
}
/** Values of a family for what files leave out; everything else is 0. */
inline mw_text_config text_config_defaults(zstring family) { return mw_text_config_defaults(family); }
/** Reads config.json, or that of a folder, or what a .gguf or .bin says. */
inline void text_config_read(zstring path, mw_text_config *out)
{
    detail::call err;
    mw_text_config_read(path, out, &err.it);
    err.check();
}
/** Reads config.json, or that of a folder, or what a .gguf or .bin says. */
inline mw_text_graph_options text_graph_defaults() { return mw_text_graph_defaults(); }
/** A network with new parameters (normal, 0.02), under the names of its family's files. */
inline graph text_graph(const mw_text_config *config, const mw_text_graph_options *options = nullptr)
{
    detail::call err;
    graph made(mw_text_graph(config, options, &err.it));
    err.check();
    return made;
}
/** Its configuration and its tokenizer; they live as long as the model. */
inline mw_generate_options generate_defaults() { return mw_generate_defaults(); }
/** Goes on with several texts at a time, each as mw_text_model_generate goes on with it alone: the weights are
 *  read once for all of them. */
inline mw_embed_options embed_defaults() { return mw_embed_defaults(); }
inline mw_text_save_options text_save_defaults() { return mw_text_save_defaults(); }
/** Writes a model in the form that the path ends in: ".gguf" (with its vocabulary and the keys that llama.cpp
 *  asks for), ".bin" (llama2.c, weights alone), ".mlpackage" (Core ML's, weights alone), or else a folder. */
inline void text_save(zstring source, zstring path, const mw_text_save_options *options = nullptr)
{
    detail::call err;
    mw_text_save(source, path, options, &err.it);
    err.check();
}
/** Weights of any such source into a trainer on a graph of its configuration, also one with adapters. */
inline void text_load_weights(mw_trainer *trainer, zstring source)
{
    detail::call err;
    mw_text_load_weights(trainer, source, &err.it);
    err.check();
}
/** mw_text_save with the weights that a trainer has, adapters merged. */
inline void text_save_trained(mw_trainer *trainer, zstring source, zstring path,
                              const mw_text_save_options *options = nullptr)
{
    detail::call err;
    mw_text_save_trained(trainer, source, path, options, &err.it);
    err.check();
}
/** Frees the lists and makes it the empty one. */
inline void tokens_destroy(mw_tokens *tokens) { mw_tokens_destroy(tokens); }
/** Special tokens are put around a text, and found in it. */
inline mw_encode_options encode_defaults() { return mw_encode_defaults(); }
/** A group with the optimizer's numbers. */
inline mw_parameter_group parameter_group_defaults(zstring pattern) { return mw_parameter_group_defaults(pattern); }
/** A frozen group, with the running statistics. */
inline mw_parameter_group parameter_group_frozen(zstring pattern) { return mw_parameter_group_frozen(pattern); }
/** Sets a number of a group. */
inline bool parameter_group_set(mw_parameter_group *group, mw_parameter_group_number number, double value)
{
    return mw_parameter_group_set(group, number, value);
}
/** Returns options with everything else at its default. */
inline mw_tune_options tune_defaults(const char *const *patterns, size_t count)
{
    return mw_tune_defaults(patterns, count);
}
/** Returns options with everything else at its default. */
inline mw_lora_options lora_defaults(const char *const *patterns, size_t count)
{
    return mw_lora_defaults(patterns, count);
}
/** Returns the shape of a scalar (rank 0). */
inline mw_shape shape_scalar() { return mw_shape_scalar(); }
/** Returns the number of elements, 1 for a scalar; -1 if an extent is unknown or the product exceeds INT64_MAX. */
inline int64_t shape_count(mw_shape shape) { return mw_shape_count(shape); }
/** True if rank and extents are equal. */
inline bool shape_equal(mw_shape a, mw_shape b) { return mw_shape_equal(a, b); }
/** Returns MIL's name of the type ("fp16"), or "?" for a value outside the enumeration; static storage. */
inline const char *dtype_name(mw_dtype dtype) { return mw_dtype_name(dtype); }
/** Returns the bits of one element in memory (16 for F16, 8 for BOOL, 4 for U4), 0 for STRING and NONE. */
inline int dtype_bits(mw_dtype dtype) { return mw_dtype_bits(dtype); }
/** A value of the loss's graph. */
inline mw_watch watch_tensor(tensor tensor, zstring name, mw_watch_kind kind)
{
    return mw_watch_tensor(tensor, name, kind);
}
/** One value for each trained parameter that a pattern matches. */
inline mw_watch watch_parameters(mw_watch_of of, zstring pattern, mw_watch_kind kind)
{
    return mw_watch_parameters(of, pattern, kind);
}
/** Returns options with everything off. */
inline mw_weights_options weights_defaults() { return mw_weights_defaults(); }
/** Returns options with everything else at its default. */
inline mw_compress_options compress_defaults(mw_weight_form form) { return mw_compress_defaults(form); }
/** Returns the default options. */
inline mw_write_options write_defaults() { return mw_write_defaults(); }

/* ---- what the members do ---- */

inline chip_report chip_report::create(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options)
{
    detail::call err;
    chip_report made(mw_chip_report_create(graph, chip, options, &err.it));
    err.check();
    return made;
}
inline mw_chip_report_info chip_report::get_info() const { return mw_chip_report_get_info(handle::get()); }
inline const mw_chip_finding *chip_report::finding_at(size_t index) const
{
    return mw_chip_report_finding_at(handle::get(), index);
}
inline std::string chip_report::print() const
{
    detail::call err;
    char *const made = mw_chip_report_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline communicator communicator::create(const mw_transport *transport, const mw_allocator *allocator)
{
    detail::call err;
    communicator made(mw_communicator_create(transport, allocator, &err.it));
    err.check();
    return made;
}
inline void communicator::finish() { detail::call err; mw_communicator_finish(handle::get(), &err.it); err.check(); }
inline void communicator::set_timeout(double seconds)
{
    detail::call err;
    mw_communicator_set_timeout(handle::get(), seconds, &err.it);
    err.check();
}
inline void communicator::barrier() { detail::call err; mw_communicator_barrier(handle::get(), &err.it); err.check(); }
inline void communicator::broadcast(int root, void *data, size_t size)
{
    detail::call err;
    mw_communicator_broadcast(handle::get(), root, data, size, &err.it);
    err.check();
}
inline void communicator::gather(const void *record, size_t size, void *out)
{
    detail::call err;
    mw_communicator_gather(handle::get(), record, size, out, &err.it);
    err.check();
}
inline void communicator::allreduce(void *data, size_t count, mw_dtype dtype)
{
    detail::call err;
    mw_communicator_allreduce(handle::get(), data, count, dtype, &err.it);
    err.check();
}
inline void communicator::fail(zstring reason) { mw_communicator_fail(handle::get(), reason); }
inline void communicator::abort(int code) { mw_communicator_abort(handle::get(), code); }
inline mw_communicator_info communicator::get_info() const { return mw_communicator_get_info(handle::get()); }
inline comparison comparison::create(const mw_graph *graph, const mw_compare_options *options)
{
    detail::call err;
    comparison made(mw_comparison_create(graph, options, &err.it));
    err.check();
    return made;
}
inline mw_comparison_info comparison::get_info() const { return mw_comparison_get_info(handle::get()); }
inline const mw_compared *comparison::at(size_t index) const { return mw_comparison_at(handle::get(), index); }
inline std::string comparison::print() const
{
    detail::call err;
    char *const made = mw_comparison_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline void comparison::save_batch(zstring path) const
{
    detail::call err;
    mw_comparison_save_batch(handle::get(), path, &err.it);
    err.check();
}
inline coreml coreml::open(zstring path, const mw_graph_options *options)
{
    detail::call err;
    coreml made(mw_coreml_open(path, options, &err.it));
    err.check();
    return made;
}
inline const mw_graph *coreml::graph() const
{
    detail::call err;
    const mw_graph *made = mw_coreml_graph(handle::get(), &err.it);
    err.check();
    return made;
}
inline mw_coreml_info coreml::get_info() const { return mw_coreml_get_info(handle::get()); }
inline const mw_coreml *coreml::part(size_t index) const { return mw_coreml_part(handle::get(), index); }
inline dataset dataset::create(const mw_column *columns, size_t column_count, int64_t examples, bool copy)
{
    detail::call err;
    dataset made(mw_dataset_create(columns, column_count, examples, copy, &err.it));
    err.check();
    return made;
}
inline dataset dataset::create_callback(const mw_column *columns, size_t column_count, int64_t examples,
                                        mw_dataset_function *function, void *user)
{
    detail::call err;
    dataset made(mw_dataset_create_callback(columns, column_count, examples, function, user, &err.it));
    err.check();
    return made;
}
inline int64_t dataset::examples() const { return mw_dataset_examples(handle::get()); }
inline const mw_column *dataset::column_at(size_t index) const { return mw_dataset_column_at(handle::get(), index); }
inline mw_classes dataset::classes(zstring column) const { return mw_dataset_classes(handle::get(), column); }
inline void dataset::split(const int64_t *counts, size_t part_count, uint64_t seed, mw_dataset **out_parts) const
{
    detail::call err;
    mw_dataset_split(handle::get(), counts, part_count, seed, out_parts, &err.it);
    err.check();
}
inline dataset dataset::prefetch(int batches) const
{
    detail::call err;
    dataset made(mw_dataset_prefetch(handle::get(), batches, &err.it));
    err.check();
    return made;
}
inline dataset dataset::prefetch_threads(int batches, int threads) const
{
    detail::call err;
    dataset made(mw_dataset_prefetch_threads(handle::get(), batches, threads, &err.it));
    err.check();
    return made;
}
inline dataset dataset::bucket(const int64_t *lengths, const int64_t *limits, size_t limit_count) const
{
    detail::call err;
    dataset made(mw_dataset_bucket(handle::get(), lengths, limits, limit_count, &err.it));
    err.check();
    return made;
}
inline dataset dataset::subset(const int64_t *examples, int64_t count) const
{
    detail::call err;
    dataset made(mw_dataset_subset(handle::get(), examples, count, &err.it));
    err.check();
    return made;
}
inline dataset dataset::shard(int rank, int ranks) const
{
    detail::call err;
    dataset made(mw_dataset_shard(handle::get(), rank, ranks, &err.it));
    err.check();
    return made;
}
inline dataset dataset::concatenate(const mw_dataset *const *sources, size_t source_count)
{
    detail::call err;
    dataset made(mw_dataset_concatenate(sources, source_count, &err.it));
    err.check();
    return made;
}
inline dataset dataset::sample(const double *weights, int64_t count, uint64_t seed) const
{
    detail::call err;
    dataset made(mw_dataset_sample(handle::get(), weights, count, seed, &err.it));
    err.check();
    return made;
}
inline void dataset::divide(const mw_divide_options *options, mw_dataset **out_parts) const
{
    detail::call err;
    mw_dataset_divide(handle::get(), options, out_parts, &err.it);
    err.check();
}
inline dataset dataset::zip(const mw_zip_part *parts, size_t part_count)
{
    detail::call err;
    dataset made(mw_dataset_zip(parts, part_count, &err.it));
    err.check();
    return made;
}
inline dataset dataset::map(const mw_column *columns, size_t column_count, mw_map_function *function, void *user,
                            uint64_t seed) const
{
    detail::call err;
    dataset made(mw_dataset_map(handle::get(), columns, column_count, function, user, seed, &err.it));
    err.check();
    return made;
}
inline dataset dataset::augment(const mw_augment_options *options) const
{
    detail::call err;
    dataset made(mw_dataset_augment(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::mix(const mw_mix_options *options) const
{
    detail::call err;
    dataset made(mw_dataset_mix(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::normalize(const mw_normalize_options *options) const
{
    detail::call err;
    dataset made(mw_dataset_normalize(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::window(const mw_window_options *options) const
{
    detail::call err;
    dataset made(mw_dataset_window(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_idx(zstring folder, zstring prefix)
{
    detail::call err;
    dataset made(mw_dataset_open_idx(folder, prefix, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_csv(zstring path, const mw_table_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_csv(path, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_jsonl(zstring path, const mw_table_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_jsonl(path, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_tensors(zstring path, const mw_tensor_column *columns, size_t column_count)
{
    detail::call err;
    dataset made(mw_dataset_open_tensors(path, columns, column_count, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_images(zstring folder, const mw_image_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_images(folder, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_image_files(const char *const *paths, size_t count, const mw_image_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_image_files(paths, count, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_sounds(zstring folder, const mw_sound_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_sounds(folder, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::open_sound_files(const char *const *paths, size_t count, const mw_sound_options *options)
{
    detail::call err;
    dataset made(mw_dataset_open_sound_files(paths, count, options, &err.it));
    err.check();
    return made;
}
inline dataset dataset::change_sounds(const mw_sound_change_options *options) const
{
    detail::call err;
    dataset made(mw_dataset_change_sounds(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline graph graph::for_app(const mw_app_options *options) const
{
    detail::call err;
    graph made(mw_graph_for_app(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline void graph::write_svg(zstring path, const mw_draw_options *options) const
{
    detail::call err;
    mw_graph_write_svg(handle::get(), path, options, &err.it);
    err.check();
}
inline void graph::write_dot(zstring path, const mw_draw_options *options) const
{
    detail::call err;
    mw_graph_write_dot(handle::get(), path, options, &err.it);
    err.check();
}
inline std::string graph::print_svg(const mw_draw_options *options) const
{
    detail::call err;
    char *const made = mw_graph_print_svg(handle::get(), options, &err.it);
    err.check();
    return detail::taken(made);
}
inline const char *graph::function_at(size_t index) const { return mw_graph_function_at(handle::get(), index); }
inline mw_opset graph::opset() const { return mw_graph_opset(handle::get()); }
inline graph graph::function(zstring name) const
{
    detail::call err;
    graph made(mw_graph_function(handle::get(), name, &err.it));
    err.check();
    return made;
}
inline void graph::admitted_shapes(zstring input, mw_admitted_shapes *out) const
{
    detail::call err;
    mw_graph_admitted_shapes(handle::get(), input, out, &err.it);
    err.check();
}
inline void graph::listed_shape(zstring input, size_t index, mw_shape *out) const
{
    detail::call err;
    mw_graph_listed_shape(handle::get(), input, index, out, &err.it);
    err.check();
}
inline graph graph::specialize(const mw_input_shape *shapes, size_t count) const
{
    detail::call err;
    graph made(mw_graph_specialize(handle::get(), shapes, count, &err.it));
    err.check();
    return made;
}
inline graph graph::rebatch(int64_t examples) const
{
    detail::call err;
    graph made(mw_graph_rebatch(handle::get(), examples, &err.it));
    err.check();
    return made;
}
inline graph graph::stateful() const
{
    detail::call err;
    graph made(mw_graph_stateful(handle::get(), &err.it));
    err.check();
    return made;
}
inline mw_graph_options graph::defaults() { return mw_graph_defaults(); }
inline graph graph::create(const mw_graph_options *options)
{
    detail::call err;
    graph made(mw_graph_create(options, &err.it));
    err.check();
    return made;
}
inline void graph::check() const { detail::call err; mw_graph_check(handle::get(), &err.it); err.check(); }
inline graph graph::evaluation() const
{
    detail::call err;
    graph made(mw_graph_evaluation(handle::get(), &err.it));
    err.check();
    return made;
}
inline graph graph::flatten() const
{
    detail::call err;
    graph made(mw_graph_flatten(handle::get(), &err.it));
    err.check();
    return made;
}
inline tensor graph::find(zstring name) const { return mw_graph_find(handle::get(), name); }
inline std::string graph::print() const
{
    detail::call err;
    char *const made = mw_graph_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline graph graph::open_mil(zstring path, const mw_graph_options *options)
{
    detail::call err;
    graph made(mw_graph_open_mil(path, options, &err.it));
    err.check();
    return made;
}
inline graph graph::parse_mil(zstring text, size_t size, zstring folder, const mw_graph_options *options)
{
    detail::call err;
    graph made(mw_graph_parse_mil(text, size, folder, options, &err.it));
    err.check();
    return made;
}
inline void graph::verify() const { detail::call err; mw_graph_verify(handle::get(), &err.it); err.check(); }
inline std::string graph::print_mil(const mw_write_options *options) const
{
    detail::call err;
    char *const made = mw_graph_print_mil(handle::get(), options, &err.it);
    err.check();
    return detail::taken(made);
}
inline graph graph::open_onnx(zstring path, const mw_onnx_options *options)
{
    detail::call err;
    graph made(mw_graph_open_onnx(path, options, &err.it));
    err.check();
    return made;
}
inline void graph::weights(mw_weight *out_weights, size_t capacity, size_t *out_count) const
{
    detail::call err;
    mw_graph_weights(handle::get(), out_weights, capacity, out_count, &err.it);
    err.check();
}
inline tensor graph::input_at(size_t index) const { return mw_graph_input_at(handle::get(), index); }
inline tensor graph::output_at(size_t index) const { return mw_graph_output_at(handle::get(), index); }
inline graph graph::trainable(const mw_tune_options *options) const
{
    detail::call err;
    graph made(mw_graph_trainable(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline graph graph::lora(const mw_lora_options *options) const
{
    detail::call err;
    graph made(mw_graph_lora(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline graph graph::load_weights(zstring path, const mw_weights_options *options) const
{
    detail::call err;
    graph made(mw_graph_load_weights(handle::get(), path, options, &err.it));
    err.check();
    return made;
}
inline graph graph::compress(const mw_compress_options *options) const
{
    detail::call err;
    graph made(mw_graph_compress(handle::get(), options, &err.it));
    err.check();
    return made;
}
inline void graph::write(zstring path, const mw_write_options *options) const
{
    detail::call err;
    mw_graph_write(handle::get(), path, options, &err.it);
    err.check();
}
inline mw_loader_options loader::defaults(const mw_dataset *dataset, int64_t batch)
{
    return mw_loader_defaults(dataset, batch);
}
inline loader loader::create(const mw_loader_options *options)
{
    detail::call err;
    loader made(mw_loader_create(options, &err.it));
    err.check();
    return made;
}
inline const mw_batch *loader::next()
{
    detail::call err;
    const mw_batch *made = mw_loader_next(handle::get(), &err.it);
    err.check();
    return made;
}
inline int64_t loader::batches() const { return mw_loader_batches(handle::get()); }
inline mw_loader_position loader::tell() const { return mw_loader_tell(handle::get()); }
inline void loader::seek(mw_loader_position position)
{
    detail::call err;
    mw_loader_seek(handle::get(), position, &err.it);
    err.check();
}
inline mw_metrics_options metrics::defaults() { return mw_metrics_defaults(); }
inline metrics metrics::create(zstring path, const mw_metrics_options *options)
{
    detail::call err;
    metrics made(mw_metrics_create(path, options, &err.it));
    err.check();
    return made;
}
inline void metrics::write(zstring kind, int64_t step, const mw_metrics_field *fields, size_t count)
{
    detail::call err;
    mw_metrics_write(handle::get(), kind, step, fields, count, &err.it);
    err.check();
}
inline mw_model_options model::defaults() { return mw_model_defaults(); }
inline model model::open(zstring path, const mw_model_options *options)
{
    detail::call err;
    model made(mw_model_open(path, options, &err.it));
    err.check();
    return made;
}
inline model model::create(const mw_graph *graph, const mw_model_options *options)
{
    detail::call err;
    model made(mw_model_create(graph, options, &err.it));
    err.check();
    return made;
}
inline mw_model_info model::get_info() const { return mw_model_get_info(handle::get()); }
inline bool model::port_at(size_t index, mw_port *out) const { return mw_model_port_at(handle::get(), index, out); }
inline void model::result_shape(zstring result, int64_t examples, mw_shape *out) const
{
    detail::call err;
    mw_model_result_shape(handle::get(), result, examples, out, &err.it);
    err.check();
}
inline void model::classes(zstring result, mw_classes *out) const
{
    detail::call err;
    mw_model_classes(handle::get(), result, out, &err.it);
    err.check();
}
inline void model::write(zstring path, const mw_write_options *options) const
{
    detail::call err;
    mw_model_write(handle::get(), path, options, &err.it);
    err.check();
}
inline void model::predict(const mw_batch *batch, const mw_result *results, size_t result_count)
{
    detail::call err;
    mw_model_predict(handle::get(), batch, results, result_count, &err.it);
    err.check();
}
inline plan plan::create(mw_program *program)
{
    detail::call err;
    plan made(mw_plan_create(program, &err.it));
    err.check();
    return made;
}
inline plan plan::create_trainer(mw_trainer *trainer, mw_trainer_part part)
{
    detail::call err;
    plan made(mw_plan_create_trainer(trainer, part, &err.it));
    err.check();
    return made;
}
inline mw_plan_totals plan::get_totals() const { return mw_plan_get_totals(handle::get()); }
inline bool plan::step_at(size_t index, mw_plan_step *out_step) const
{
    return mw_plan_step_at(handle::get(), index, out_step);
}
inline bool plan::buffer_at(size_t index, mw_plan_buffer *out_buffer) const
{
    return mw_plan_buffer_at(handle::get(), index, out_buffer);
}
inline void plan::print(mw_plan_line *line, void *user) const { mw_plan_print(handle::get(), line, user); }
inline void plan::write(zstring path) const
{
    detail::call err;
    mw_plan_write(handle::get(), path, &err.it);
    err.check();
}
inline void plan::write_trace(zstring path) const
{
    detail::call err;
    mw_plan_write_trace(handle::get(), path, &err.it);
    err.check();
}
inline predictor predictor::create(mw_model *model)
{
    detail::call err;
    predictor made(mw_predictor_create(model, &err.it));
    err.check();
    return made;
}
inline void predictor::predict(const mw_batch *batch, const mw_result *results, size_t result_count)
{
    detail::call err;
    mw_predictor_predict(handle::get(), batch, results, result_count, &err.it);
    err.check();
}
inline void predictor::set_shapes(const mw_input_shape *shapes, size_t count)
{
    detail::call err;
    mw_predictor_set_shapes(handle::get(), shapes, count, &err.it);
    err.check();
}
inline void predictor::reset() { detail::call err; mw_predictor_reset(handle::get(), &err.it); err.check(); }
inline void predictor::read(zstring state, mw_dtype dtype, void *out_data, size_t count)
{
    detail::call err;
    mw_predictor_read(handle::get(), state, dtype, out_data, count, &err.it);
    err.check();
}
inline void predictor::write(zstring state, mw_dtype dtype, const void *data, size_t count)
{
    detail::call err;
    mw_predictor_write(handle::get(), state, dtype, data, count, &err.it);
    err.check();
}
inline void program::profile(size_t runs)
{
    detail::call err;
    mw_program_profile(handle::get(), runs, &err.it);
    err.check();
}
inline program program::create(const mw_graph *graph, const mw_compile_options *options)
{
    detail::call err;
    program made(mw_program_create(graph, options, &err.it));
    err.check();
    return made;
}
inline void program::set_shapes(const mw_input_shape *shapes, size_t count)
{
    detail::call err;
    mw_program_set_shapes(handle::get(), shapes, count, &err.it);
    err.check();
}
inline void program::write(zstring port, mw_dtype dtype, const void *data, size_t count)
{
    detail::call err;
    mw_program_write(handle::get(), port, dtype, data, count, &err.it);
    err.check();
}
inline void program::read(zstring port, mw_dtype dtype, void *out_data, size_t count)
{
    detail::call err;
    mw_program_read(handle::get(), port, dtype, out_data, count, &err.it);
    err.check();
}
inline void *program::view(zstring port)
{
    detail::call err;
    void *made = mw_program_view(handle::get(), port, &err.it);
    err.check();
    return made;
}
inline void program::set_weights(const mw_weight_values *values, size_t count)
{
    detail::call err;
    mw_program_set_weights(handle::get(), values, count, &err.it);
    err.check();
}
inline void program::run() { detail::call err; mw_program_run(handle::get(), &err.it); err.check(); }
inline void program::alias(zstring output, zstring input)
{
    detail::call err;
    mw_program_alias(handle::get(), output, input, &err.it);
    err.check();
}
inline bool program::port_at(size_t index, mw_port *out_port) const
{
    return mw_program_port_at(handle::get(), index, out_port);
}
inline void program::classes(zstring port, mw_classes *out) const
{
    detail::call err;
    mw_program_classes(handle::get(), port, out, &err.it);
    err.check();
}
inline void program::label(zstring port, mw_label *out)
{
    detail::call err;
    mw_program_label(handle::get(), port, out, &err.it);
    err.check();
}
inline bool program::warning_at(size_t index, mw_warning *out_warning) const
{
    return mw_program_warning_at(handle::get(), index, out_warning);
}
inline mw_program_info program::get_info() const { return mw_program_get_info(handle::get()); }
inline bool program::placement_at(size_t index, mw_placement *out) const
{
    return mw_program_placement_at(handle::get(), index, out);
}
inline void program::load_weights(zstring path, const mw_weights_options *options)
{
    detail::call err;
    mw_program_load_weights(handle::get(), path, options, &err.it);
    err.check();
}
inline ranges ranges::create(const mw_graph *graph, const mw_range_options *options)
{
    detail::call err;
    ranges made(mw_ranges_create(graph, options, &err.it));
    err.check();
    return made;
}
inline ranges ranges::create_trainer(mw_trainer *trainer, const mw_batch *batch)
{
    detail::call err;
    ranges made(mw_ranges_create_trainer(trainer, batch, &err.it));
    err.check();
    return made;
}
inline mw_ranges_info ranges::get_info() const { return mw_ranges_get_info(handle::get()); }
inline const mw_range *ranges::at(size_t index) const { return mw_ranges_at(handle::get(), index); }
inline const mw_range *ranges::worst_at(size_t place) const { return mw_ranges_worst_at(handle::get(), place); }
inline const mw_range_product *ranges::product_at(size_t place) const
{
    return mw_ranges_product_at(handle::get(), place);
}
inline std::string ranges::print() const
{
    detail::call err;
    char *const made = mw_ranges_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline scores scores::create(mw_score_task task, int64_t columns, zstring names)
{
    detail::call err;
    scores made(mw_scores_create(task, columns, names, &err.it));
    err.check();
    return made;
}
inline void scores::add(const mw_score_batch *batch)
{
    detail::call err;
    mw_scores_add(handle::get(), batch, &err.it);
    err.check();
}
inline void scores::add_text(zstring reference, zstring text)
{
    detail::call err;
    mw_scores_add_text(handle::get(), reference, text, &err.it);
    err.check();
}
inline size_t scores::count() const { return mw_scores_count(handle::get()); }
inline mw_score scores::get(size_t index) const { return mw_scores_get(handle::get(), index); }
inline summary summary::create(const mw_graph *graph)
{
    detail::call err;
    summary made(mw_summary_create(graph, &err.it));
    err.check();
    return made;
}
inline size_t summary::count() const { return mw_summary_count(handle::get()); }
inline const mw_summary_layer *summary::at(size_t index) const { return mw_summary_at(handle::get(), index); }
inline mw_summary_totals summary::get_totals() const { return mw_summary_get_totals(handle::get()); }
inline std::string summary::print() const
{
    detail::call err;
    char *const made = mw_summary_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline table_encoder table_encoder::fit(const mw_table_fit_options *options, mw_dataset **out_training,
                                        mw_dataset **out_validation)
{
    detail::call err;
    table_encoder made(mw_table_encoder_fit(options, out_training, out_validation, &err.it));
    err.check();
    return made;
}
inline dataset table_encoder::open(zstring path, const mw_table_form *form) const
{
    detail::call err;
    dataset made(mw_table_encoder_open(handle::get(), path, form, &err.it));
    err.check();
    return made;
}
inline dataset table_encoder::open_inputs(zstring path, const mw_table_form *form) const
{
    detail::call err;
    dataset made(mw_table_encoder_open_inputs(handle::get(), path, form, &err.it));
    err.check();
    return made;
}
inline int64_t table_encoder::width() const { return mw_table_encoder_width(handle::get()); }
inline bool table_encoder::field_at(size_t index, mw_encoded_field *out) const
{
    return mw_table_encoder_field_at(handle::get(), index, out);
}
inline mw_encoded_target table_encoder::target() const { return mw_table_encoder_target(handle::get()); }
inline bool table_encoder::target_at(size_t index, mw_encoded_target *out) const
{
    return mw_table_encoder_target_at(handle::get(), index, out);
}
inline mw_table_window table_encoder::window() const { return mw_table_encoder_window(handle::get()); }
inline tensor table_encoder::layer(tensor x, zstring name) const
{
    return mw_table_encoder_layer(handle::get(), x, name);
}
inline tensor table_encoder::unscale(tensor y) const { return mw_table_encoder_unscale(handle::get(), y); }
inline std::string table_encoder::print() const
{
    detail::call err;
    char *const made = mw_table_encoder_print(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline std::string table_encoder::write() const
{
    detail::call err;
    char *const made = mw_table_encoder_write(handle::get(), &err.it);
    err.check();
    return detail::taken(made);
}
inline table_encoder table_encoder::retarget(zstring path, const mw_table_form *form) const
{
    detail::call err;
    table_encoder made(mw_table_encoder_retarget(handle::get(), path, form, &err.it));
    err.check();
    return made;
}
inline table_encoder table_encoder::read(zstring text)
{
    detail::call err;
    table_encoder made(mw_table_encoder_read(text, &err.it));
    err.check();
    return made;
}
inline void table_encoder::stream(const mw_table_stream_options *options) const
{
    detail::call err;
    mw_table_encoder_stream(handle::get(), options, &err.it);
    err.check();
}
inline tensors tensors::open(zstring path)
{
    detail::call err;
    tensors made(mw_tensors_open(path, &err.it));
    err.check();
    return made;
}
inline mw_tensors_info tensors::get_info() const { return mw_tensors_get_info(handle::get()); }
inline const mw_tensor_info *tensors::at(size_t index) const { return mw_tensors_at(handle::get(), index); }
inline const mw_tensor_info *tensors::find(zstring name) const { return mw_tensors_find(handle::get(), name); }
inline const mw_tensors_note *tensors::note_at(size_t index) const { return mw_tensors_note_at(handle::get(), index); }
inline const char *tensors::note_find(zstring key) const { return mw_tensors_note_find(handle::get(), key); }
inline void tensors::read_array(zstring key, mw_tensors_array *out)
{
    detail::call err;
    mw_tensors_read_array(handle::get(), key, out, &err.it);
    err.check();
}
inline const mw_tensors_note *tensors::left_out_at(size_t index) const
{
    return mw_tensors_left_out_at(handle::get(), index);
}
inline void tensors::read(zstring name, mw_dtype dtype, void *out, size_t count)
{
    detail::call err;
    mw_tensors_read(handle::get(), name, dtype, out, count, &err.it);
    err.check();
}
inline tensor tensors::constant(zstring name, mw_dtype dtype, mw_graph *graph)
{
    detail::call err;
    mw_tensor *made = mw_tensors_constant(handle::get(), name, dtype, graph, &err.it);
    err.check();
    return made;
}
inline void tensors::write(zstring path, const mw_tensor_values *tensors, size_t count)
{
    detail::call err;
    mw_tensors_write(path, tensors, count, &err.it);
    err.check();
}
inline void tensors::convert(zstring path, mw_dtype dtype)
{
    detail::call err;
    mw_tensors_convert(handle::get(), path, dtype, &err.it);
    err.check();
}
inline void tensors::average(const char *const *paths, size_t count, zstring path)
{
    detail::call err;
    mw_tensors_average(paths, count, path, &err.it);
    err.check();
}
inline mw_text_data_options text_data::defaults() { return mw_text_data_defaults(); }
inline text_data text_data::open(zstring path, zstring folder, const mw_text_data_options *options)
{
    detail::call err;
    text_data made(mw_text_data_open(path, folder, options, &err.it));
    err.check();
    return made;
}
inline const mw_dataset *text_data::training() const { return mw_text_data_training(handle::get()); }
inline const mw_dataset *text_data::validation() const { return mw_text_data_validation(handle::get()); }
inline mw_text_data_info text_data::get_info() { return mw_text_data_get_info(handle::get()); }
inline void text_data::write(const char *const *paths, size_t count, zstring folder, zstring out,
                             const mw_text_data_options *options, mw_text_data_info *out_info)
{
    detail::call err;
    mw_text_data_write(paths, count, folder, out, options, out_info, &err.it);
    err.check();
}
inline mw_text_model_options text_model::defaults() { return mw_text_model_defaults(); }
inline text_model text_model::open(zstring folder, const mw_text_model_options *options)
{
    detail::call err;
    text_model made(mw_text_model_open(folder, options, &err.it));
    err.check();
    return made;
}
inline const mw_text_config *text_model::get_config() const { return mw_text_model_get_config(handle::get()); }
inline const mw_tokenizer *text_model::get_tokenizer() const { return mw_text_model_get_tokenizer(handle::get()); }
inline std::string text_model::generate(zstring prompt, const mw_generate_options *options)
{
    detail::call err;
    char *const made = mw_text_model_generate(handle::get(), prompt, options, &err.it);
    err.check();
    return detail::taken(made);
}
inline void text_model::generate_each(const char *const *prompts, size_t count, const mw_generate_options *options,
                                      char **out_texts)
{
    detail::call err;
    mw_text_model_generate_each(handle::get(), prompts, count, options, out_texts, &err.it);
    err.check();
}
inline void text_model::embed(const char *const *texts, size_t count, const mw_embed_options *options, float *out)
{
    detail::call err;
    mw_text_model_embed(handle::get(), texts, count, options, out, &err.it);
    err.check();
}
inline token_stream token_stream::create(const mw_tokenizer *tokenizer)
{
    detail::call err;
    token_stream made(mw_token_stream_create(tokenizer, &err.it));
    err.check();
    return made;
}
inline const char *token_stream::push(int32_t id)
{
    detail::call err;
    const char *made = mw_token_stream_push(handle::get(), id, &err.it);
    err.check();
    return made;
}
inline const char *token_stream::finish() { return mw_token_stream_finish(handle::get()); }
inline tokenizer tokenizer::open(zstring path)
{
    detail::call err;
    tokenizer made(mw_tokenizer_open(path, &err.it));
    err.check();
    return made;
}
inline mw_tokenizer_info tokenizer::get_info() const { return mw_tokenizer_get_info(handle::get()); }
inline int32_t tokenizer::id(zstring text) const { return mw_tokenizer_id(handle::get(), text); }
inline const char *tokenizer::text(int32_t id, size_t *size) const
{
    return mw_tokenizer_text(handle::get(), id, size);
}
inline bool tokenizer::is_special(int32_t id) const { return mw_tokenizer_is_special(handle::get(), id); }
inline void tokenizer::encode(zstring text, size_t size, const mw_encode_options *options, mw_tokens *out) const
{
    detail::call err;
    mw_tokenizer_encode(handle::get(), text, size, options, out, &err.it);
    err.check();
}
inline std::string tokenizer::decode(const int32_t *ids, size_t count, bool keep_special, size_t *out_size) const
{
    detail::call err;
    char *const made = mw_tokenizer_decode(handle::get(), ids, count, keep_special, out_size, &err.it);
    err.check();
    return detail::taken(made);
}
inline mw_tokenizer_train_options tokenizer::train_defaults() { return mw_tokenizer_train_defaults(); }
inline void tokenizer::train(zstring text, size_t size, const mw_tokenizer_train_options *options, zstring path)
{
    detail::call err;
    mw_tokenizer_train(text, size, options, path, &err.it);
    err.check();
}
inline const mw_comparison *trainer::comparison() const { return mw_trainer_comparison(handle::get()); }
inline void trainer::evaluate(const mw_dataset *dataset, const mw_confusion *confusion, mw_evaluation *out)
{
    detail::call err;
    mw_trainer_evaluate(handle::get(), dataset, confusion, out, &err.it);
    err.check();
}
inline void trainer::log(const mw_metrics_field *fields, size_t count)
{
    detail::call err;
    mw_trainer_log(handle::get(), fields, count, &err.it);
    err.check();
}
inline void trainer::fit(const mw_fit_options *options)
{
    detail::call err;
    mw_trainer_fit(handle::get(), options, &err.it);
    err.check();
}
inline void trainer::export_(const mw_graph *source, zstring path, const mw_write_options *options)
{
    detail::call err;
    mw_trainer_export(handle::get(), source, path, options, &err.it);
    err.check();
}
inline void trainer::profile(mw_trainer_part part, size_t runs)
{
    detail::call err;
    mw_trainer_profile(handle::get(), part, runs, &err.it);
    err.check();
}
inline trainer trainer::create(const mw_trainer_options *options)
{
    detail::call err;
    trainer made(mw_trainer_create(options, &err.it));
    err.check();
    return made;
}
inline void trainer::step(const mw_batch *batch, float *out_loss)
{
    detail::call err;
    mw_trainer_step(handle::get(), batch, out_loss, &err.it);
    err.check();
}
inline void trainer::step_many(const mw_batch *batches, size_t count, float *out_losses)
{
    detail::call err;
    mw_trainer_step_many(handle::get(), batches, count, out_losses, &err.it);
    err.check();
}
inline void trainer::set_learning_rate(float learning_rate)
{
    detail::call err;
    mw_trainer_set_learning_rate(handle::get(), learning_rate, &err.it);
    err.check();
}
inline void trainer::use_averages(bool use)
{
    detail::call err;
    mw_trainer_use_averages(handle::get(), use, &err.it);
    err.check();
}
inline mw_classes trainer::classes(zstring column) const { return mw_trainer_classes(handle::get(), column); }
inline void trainer::predict(const mw_batch *batch, mw_dtype dtype, void *out_data, size_t count)
{
    detail::call err;
    mw_trainer_predict(handle::get(), batch, dtype, out_data, count, &err.it);
    err.check();
}
inline void trainer::read(zstring parameter, mw_dtype dtype, void *out_data, size_t count)
{
    detail::call err;
    mw_trainer_read(handle::get(), parameter, dtype, out_data, count, &err.it);
    err.check();
}
inline void trainer::write(zstring parameter, mw_dtype dtype, const void *data, size_t count)
{
    detail::call err;
    mw_trainer_write(handle::get(), parameter, dtype, data, count, &err.it);
    err.check();
}
inline mw_trainer_info trainer::get_info() const { return mw_trainer_get_info(handle::get()); }
inline bool trainer::warning_at(size_t index, mw_warning *out_warning) const
{
    return mw_trainer_warning_at(handle::get(), index, out_warning);
}
inline mw_program *trainer::program() const { return mw_trainer_program(handle::get()); }
inline void trainer::save(zstring path, const mw_loader_position *position)
{
    detail::call err;
    mw_trainer_save(handle::get(), path, position, &err.it);
    err.check();
}
inline void trainer::load(zstring path, mw_loader_position *out_position)
{
    detail::call err;
    mw_trainer_load(handle::get(), path, out_position, &err.it);
    err.check();
}
inline mw_trainer_options trainer::defaults(tensor loss, mw_optimizer optimizer)
{
    return mw_trainer_defaults(loss, optimizer);
}
inline bool trainer::watch_at(size_t index, mw_watched *out_watched) const
{
    return mw_trainer_watch_at(handle::get(), index, out_watched);
}
inline void trainer::watch_values(size_t index, mw_dtype dtype, void *out_data, size_t count)
{
    detail::call err;
    mw_trainer_watch_values(handle::get(), index, dtype, out_data, count, &err.it);
    err.check();
}
inline void trainer::save_weights(zstring path)
{
    detail::call err;
    mw_trainer_save_weights(handle::get(), path, &err.it);
    err.check();
}
inline void trainer::save_lora(zstring folder)
{
    detail::call err;
    mw_trainer_save_lora(handle::get(), folder, &err.it);
    err.check();
}
inline void trainer::load_weights(zstring path, const mw_weights_options *options)
{
    detail::call err;
    mw_trainer_load_weights(handle::get(), path, options, &err.it);
    err.check();
}

} // namespace mw

#endif
