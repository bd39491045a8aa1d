// A thin layer over the C interface: errors are thrown, objects end with their last reference. What it does not have is
// called by its C name: `import CMillwright`.
import CMillwright

/// What a call of the library failed of.
public struct MillwrightError: Error, CustomStringConvertible {
    public let status: mw_status
    public let description: String
}

/// Calls `body` with an error record, and throws what it holds afterwards.
func checked<Result>(_ body: (UnsafeMutablePointer<mw_error>) -> Result) throws -> Result {
    var err = mw_error()
    let result = body(&err)
    if err.status != MW_OK {
        let text = withUnsafeBytes(of: &err.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        throw MillwrightError(status: err.status, description: text)
    }
    return result
}

/// A model of a file: a Core ML package, MIL, ONNX.
public final class Model {
    let model: OpaquePointer

    public init(path: String) throws {
        guard let opened = try checked({ mw_model_open(path, nil, $0) }) else {
            throw MillwrightError(status: MW_ERROR_STATE, description: "\(path) was not opened")
        }
        model = opened
    }

    deinit { mw_model_destroy(model) }

    /// The elements of a result of so many examples.
    public func count(of result: String, examples: Int = 1) throws -> Int {
        var shape = mw_shape()
        _ = try checked { mw_model_result_shape(model, result, Int64(examples), &shape, $0) }
        return withUnsafeBytes(of: &shape.dims) { dims in
            dims.bindMemory(to: Int64.self).prefix(Int(shape.rank)).reduce(1) { $0 * Int($1) }
        }
    }
}

/// Predicts with buffers of its own. One thread at a time.
public final class Predictor {
    let model: Model
    let predictor: OpaquePointer

    public init(_ model: Model) throws {
        self.model = model
        guard let created = try checked({ mw_predictor_create(model.model, $0) }) else {
            throw MillwrightError(status: MW_ERROR_STATE, description: "no predictor")
        }
        predictor = created
    }

    deinit { mw_predictor_destroy(predictor) }

    /// One input to one result: `values` holds the elements of all examples, one example after the other.
    public func predict(_ input: String, _ values: [Float], result: String, examples: Int = 1) throws -> [Float] {
        var out = [Float](repeating: 0, count: try model.count(of: result, examples: examples))
        try input.withCString { inputName in
            try result.withCString { resultName in
                try values.withUnsafeBufferPointer { data in
                    try out.withUnsafeMutableBufferPointer { found in
                        var feed = mw_feed(name: inputName, dtype: MW_F32, data: data.baseAddress, count: data.count, scale: 0, offset: 0)
                        var wanted = mw_result(name: resultName, dtype: MW_F32, data: found.baseAddress, count: found.count)
                        _ = try withUnsafePointer(to: &feed) { feeds in
                            var batch = mw_batch(feeds: feeds, feed_count: 1, examples: Int64(examples), ids: nil)
                            return try checked { mw_predictor_predict(predictor, &batch, &wanted, 1, $0) }
                        }
                    }
                }
            }
        }
        return out
    }
}
