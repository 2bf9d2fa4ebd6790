//! `#[derive(Properties)]`: a struct as the record of an edge or a vertex.
//!
//! The crate `hedgerow` re-exports the macro and documents it with the trait.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, parse_macro_input};

/// Implements `hedgerow::Properties` for a struct: each field is a property of the same name.
#[proc_macro_derive(Properties)]
pub fn properties(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn implementation(input: &DeriveInput) -> Result<TokenStream, Error> {
    let only_structs = || Error::new_spanned(&input.ident, "only a struct with named fields can be a record");
    let Data::Struct(data) = &input.data else { return Err(only_structs()) };
    let Fields::Named(fields) = &data.fields else { return Err(only_structs()) };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(parameter, "a record cannot have type parameters or lifetimes"));
    }
    let names: Vec<_> = fields.named.iter().filter_map(|field| field.ident.as_ref()).collect();
    let properties: Vec<_> = names.iter().map(|name| syn::ext::IdentExt::unraw(*name).to_string()).collect();
    let types: Vec<_> = fields.named.iter().map(|field| &field.ty).collect();
    let struct_name = &input.ident;
    Ok(quote! {
        impl ::hedgerow::Properties for #struct_name {
            fn schema() -> ::hedgerow::RecordSchema {
                let fields = ::std::vec![
                    #(::hedgerow::Field {
                        name: ::std::string::String::from(#properties),
                        value_type: <#types as ::hedgerow::Property>::TYPE,
                        nullable: <#types as ::hedgerow::Property>::NULLABLE,
                    }),*
                ];
                ::hedgerow::RecordSchema { fields }
            }

            fn read(
                properties: &::hedgerow::ReadProperties<'_>,
            ) -> ::std::result::Result<Self, ::hedgerow::PropertyMismatch> {
                ::std::result::Result::Ok(#struct_name { #(#names: properties.get(#properties)?),* })
            }

            fn write(&self) -> ::std::vec::Vec<(&'static str, ::hedgerow::Value)> {
                [#((#properties, ::hedgerow::Property::to_value(&self.#names))),*]
                    .into_iter()
                    .filter_map(|(name, value)| ::std::option::Option::Some((name, value?)))
                    .collect()
            }
        }
    })
}
