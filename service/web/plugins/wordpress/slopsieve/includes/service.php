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

/** Return the service's address without a slash at its end, empty if there is none. */
function service_address(): string {
	$address = defined( 'SLOPSIEVE_ADDRESS' ) ? SLOPSIEVE_ADDRESS : ( get_option( SETTINGS, array() )['address'] ?? '' );
	return untrailingslashit( (string) $address );
}

/** Return the site's key, empty if there is none. */
function service_key(): string {
	return (string) ( defined( 'SLOPSIEVE_KEY' ) ? SLOPSIEVE_KEY : ( get_option( SETTINGS, array() )['key'] ?? '' ) );
}

/** Say whether there is anybody to ask. */
function is_set_up(): bool {
	return '' !== service_address() && '' !== service_key();
}

/** Return one thing that the service said of itself, null if it did not. */
function connection( string $name ) {
	return get_option( CONNECTION, array() )[ $name ] ?? null;
}

/** Keep things that the service said of itself. */
function keep_connection( array $changes ): void {
	update_option( CONNECTION, array_merge( get_option( CONNECTION, array() ), $changes ) );
}

/**
 * Call the service and return its status and its answer; the status is `AWAY` where none came.
 *
 * @param string     $method  The HTTP method.
 * @param string     $path    The path with its query.
 * @param array|null $body    What is sent as JSON.
 * @param float      $seconds How long to wait for the answer.
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
	// After an upgrade the service has another script, and browsers refuse what is not as pinned.
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
 * Return whether the last call found nobody who answers: not there, too busy, or this key is not taken.
 *
 * Any other failure may be that of one comment alone.
 *
 * @param int|null $status The status of the last call, given by the call itself.
 */
function is_away( ?int $status = null ): bool {
	static $away = false;
	if ( null !== $status ) {
		$away = in_array( $status, array( AWAY, 401, 403, 429, 502, 503, 504 ), true );
	}
	return $away;
}

/** Say whether the service answered with a case, as it does where it did what was asked. */
function is_case( array $answer ): bool {
	return $answer['status'] >= 200 && $answer['status'] < 300 && isset( $answer['body']['id'] );
}

/** Say whether the service itself refused, and would refuse the same request again. */
function is_refused( array $answer ): bool {
	return in_array( $answer['status'], array( 400, 409, 413, 415, 422 ), true ) && isset( $answer['body']['type'] );
}

/** Say whether the service itself does not know what was asked for; a proxy's 404 says no such thing. */
function is_unknown( array $answer ): bool {
	return 404 === $answer['status'] && isset( $answer['body']['type'] );
}

/** Say whether asking again would change nothing; whatever else came, the service is to be asked again. */
function is_final( array $answer ): bool {
	return is_case( $answer ) || is_refused( $answer ) || is_unknown( $answer );
}

/** Return what a problem document says, field by field. */
function said_problem( array $said ): string {
	$lines = array();
	foreach ( (array) ( $said['errors'] ?? array() ) as $one ) {
		$lines[] = sprintf( '%s: %s; %s', $one['field'] ?? '', $one['problem'] ?? '', $one['remedy'] ?? '' );
	}
	return $lines ? implode( ' ', $lines ) : (string) ( $said['detail'] ?? '' );
}
