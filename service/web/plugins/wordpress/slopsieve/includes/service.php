<?php
/**
 * Calls the service.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const AWAY = 0;

/** Return the service's URL without a trailing slash, or an empty string. */
function service_address(): string {
	$address = defined( 'SLOPSIEVE_ADDRESS' ) ? SLOPSIEVE_ADDRESS : ( get_option( SETTINGS, array() )['address'] ?? '' );
	return untrailingslashit( (string) $address );
}

/** Return the site's key, or an empty string. */
function service_key(): string {
	return (string) ( defined( 'SLOPSIEVE_KEY' ) ? SLOPSIEVE_KEY : ( get_option( SETTINGS, array() )['key'] ?? '' ) );
}

/** Return true if URL and key are set. */
function is_set_up(): bool {
	return '' !== service_address() && '' !== service_key();
}

/** Return one value of the connection, or null. */
function connection( string $name ) {
	return get_option( CONNECTION, array() )[ $name ] ?? null;
}

/** Store values of the connection. */
function keep_connection( array $changes ): void {
	update_option( CONNECTION, array_merge( get_option( CONNECTION, array() ), $changes ) );
}

/**
 * Send a request and return the response; its status is `AWAY` without a response.
 *
 * @param string     $method  The HTTP method.
 * @param string     $path    The path with its query.
 * @param array|null $body    The JSON body.
 * @param float      $seconds The timeout.
 * @return array{status: int, body: array, problem: string}
 */
function ask_service( string $method, string $path, ?array $body = null, float $seconds = 5.0 ): array {
	$arguments = array(
		'method'      => $method,
		'timeout'     => $seconds,
		'redirection' => 0,
		'user-agent'  => 'Slopsieve for WordPress/' . VERSION,
		'headers'     => array( 'Authorization' => 'Bearer ' . service_key() ),
	);
	if ( null !== $body ) {
		$arguments['headers']['Content-Type'] = 'application/json';
		$arguments['body']                    = wp_json_encode( $body );
	}
	$answer = wp_remote_request( service_address() . $path, $arguments );
	is_away( is_wp_error( $answer ) ? AWAY : (int) wp_remote_retrieve_response_code( $answer ) );
	if ( is_wp_error( $answer ) ) {
		return array(
			'status'  => AWAY,
			'body'    => array(),
			'problem' => $answer->get_error_message(),
		);
	}
	// After an upgrade the script has another hash.
	$integrity = (string) wp_remote_retrieve_header( $answer, 'slopsieve-form-script' );
	if ( preg_match( '~^sha384-[A-Za-z0-9+/]{64}$~', $integrity ) && connection( 'integrity' ) !== $integrity ) {
		keep_connection( array( 'integrity' => $integrity ) );
	}
	$said = json_decode( wp_remote_retrieve_body( $answer ), true );
	return array(
		'status'  => (int) wp_remote_retrieve_response_code( $answer ),
		'body'    => is_array( $said ) ? $said : array(),
		'problem' => is_array( $said ) ? said_problem( $said ) : __( 'The answer is not one of Slopsieve.', 'slopsieve' ),
	);
}

/**
 * Return true if the last request found the service unavailable, overloaded or refusing the key.
 *
 * Any other failure may only concern one comment.
 *
 * @param int|null $status The status of the last request, set by `ask_service`.
 */
function is_away( ?int $status = null ): bool {
	static $away = false;
	if ( null !== $status ) {
		$away = in_array( $status, array( AWAY, 401, 403, 429, 502, 503, 504 ), true );
	}
	return $away;
}

/** Return true if the response is a success with an object that has an id. */
function is_case( array $answer ): bool {
	return $answer['status'] >= 200 && $answer['status'] < 300 && isset( $answer['body']['id'] );
}

/** Return true if the service refused the request permanently. */
function is_refused( array $answer ): bool {
	return in_array( $answer['status'], array( 400, 409, 410, 413, 415, 422 ), true ) && isset( $answer['body']['type'] );
}

/** Return true if the service returned 404; a proxy's 404 does not count. */
function is_unknown( array $answer ): bool {
	return 404 === $answer['status'] && isset( $answer['body']['type'] );
}

/** Return true if a retry would not change the response. */
function is_final( array $answer ): bool {
	return is_case( $answer ) || is_refused( $answer ) || is_unknown( $answer );
}

/** Return the problems of a problem document as text. */
function said_problem( array $said ): string {
	$lines = array();
	foreach ( (array) ( $said['errors'] ?? array() ) as $one ) {
		$lines[] = sprintf( '%s: %s; %s', $one['field'] ?? '', $one['problem'] ?? '', $one['remedy'] ?? '' );
	}
	return $lines ? implode( ' ', $lines ) : (string) ( $said['detail'] ?? '' );
}
